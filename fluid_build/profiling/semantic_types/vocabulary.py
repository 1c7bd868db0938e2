"""The words that columns and tables are named with, in several languages, and what they stand for.

Each word stands for one concept. Words are lower case, without accents, in the singular. German ä,
ö, ü appear both as a, o, u and as ae, oe, ue.
"""

_CONCEPTS: dict[str, str] = {
    # --- reaching a person
    "email": "eml email emailadresse emailaddress mailadresse mailadres epost mailaddress",
    "mail": "mail courriel correo mel posta",
    "electronic": "electronico electronica eletronico eletronica elettronica electronique electronic",
    "phone": """phone telephone tel telefon telefono telefone telefoon telefonnummer telefoonnummer
        telnr telno phoneno phonenumber fon fone msisdn rufnummer puhelin landline festnetz whatsapp
        fijo vaste telephonique phonenum tlf tlfn telf telefonszam telefonu fax telefax facsimile
        faxnummer faxno faxnr telecopie homephone workphone cellphone mobilephone handynummer
        mobilnummer mobiltelefon mobielnummer telemovel telefonino cellulare gsm celular 电话 手机
        电话号码 手机号 手机号码 телефон""",
    "mobile": "mobile mobil mobiel cell cellular cel handy movil portable komorka",
    "contact": "contact contacto contatto contato kontakt ansprechpartner contactpersoon",
    # --- where
    "address": """address addr adresse adres adresa adress anschrift direccion domicilio indirizzo
        endereco morada logradouro osoite lieferadresse rechnungsadresse postanschrift hausanschrift
        wohnadresse addy 地址 住址 адрес streetaddress homeaddress""",
    "street": """street strasse strassenname calle rue straat straatnaam gade gata ulica ulice utca
        strassennr strasennr streetname streetaddr strada""",
    "street_hint": "str via line road thoroughfare complemento complement voie",
    "house_number": "hausnummer hausnr huisnummer housenumber houseno housenum hsnr apartment apt suite",
    "postcode": """zip zipcode postcode plz postleitzahl postnummer postnr codepostal codigopostal
        codicepostale eircode postalcode postkode kodpocztowy iranyitoszam psc cep zipplus 邮编
        邮政编码 индекс postcd zipcd""",
    "postal": "postal postale post pocztowy postalny",
    "postcode_hint": "cp cap pc",
    "city": """city town ort stadt ville ciudad citta cidade stad plaats woonplaats wohnort gemeinde
        municipality municipio comune commune localidad localite locality miasto mesto kommune
        poblacion suburb bairro village gmina 城市 город""",
    "region": """region province provincia bundesland canton kanton county district departement
        departamento comarca prefecture oblast wojewodztwo stateprovince regione estado provincie
        territory 省""",
    "state": "state",
    "country": """country land pais pays paese nation nationality nacionalidad nationalite
        staatsangehoerigkeit countryregion kraj citizenship 国家 страна""",
    "continent": "continent kontinent continente",
    "timezone": "timezone tz zeitzone",
    "latitude": "latitude latitud latitudine breitengrad geolat gpslat",
    "lat": "lat breite",
    "longitude": """longitude longitud longitudine laengengrad langengrad geolon geolng geolong
        gpslon gpslng gpslong lng""",
    "lon": "lon long laenge",
    "coordinates": "coordinates coordinate coords latlng latlon latlong geolocation geopoint coordenadas",
    # --- names
    "given_name": """firstname fname forename givenname vorname prenom prenoms voornaam fornavn fornamn
        etunimi primernombre imie givenname nombres prenume jmeno krestni имя namefirst rufname
        frstname firstnm fstname firstnames""",
    "family_name": """lastname lname surname familyname nachname familienname zuname nomfamille cognome
        apellido sobrenome apelido achternaam efternavn etternavn efternamn sukunimi nazwisko
        prijmeni vezeteknev maidenname geburtsname namelast lstname lastnm фамилия secondsurname
        primerapellido segundoapellido apellidopaterno apellidomaterno apel""",
    "full_name": """fullname nombrecompleto nomecompleto nomcomplet vollername wholename displayname
        realname personname 姓名 名字 фио""",
    "name": "name nm nom nombre nome naam navn namn nev nimi nazwa names",
    "first": "first given primer prime eerste vor fore",
    "last": "last family paterno materno",
    "middle": "middle second segundo mittel",
    "full": "full complete completo complet legal voll whole",
    "preferred": "preferred display chosen birthname known",
    "maiden": "maiden",
    "initial": "initial initials minit minitial initialen mi",
    "salutation": """salutation anrede honorific tratamiento civilite courtesy trattamento aanhef
        nameprefix namesuffix""",
    "person": """person people persona personne persoon individual human employee emp staff worker
        personnel patient student pupil teacher professor instructor tutor lecturer doctor physician
        nurse surgeon author coauthor writer editor actor actress director reviewer manager mgr
        supervisor boss salesperson salesman salesrep rep driver passenger guest father mother parent
        spouse husband wife son daughter child beneficiary cardholder cardholdername insured applicant
        candidate attendee participant member visitor traveler traveller referente referent guardian mentor coach player
        athlete rider pilot colleague analyst engineer technician officer judge lawyer attorney witness
        suspect victim clerk cashier requester requestor approver assignee reporter landlord tenant
        resident citizen voter donor volunteer singer composer musician poet president senator
        mayor principal advisor adviser referee umpire therapist dentist investigator faculty alumnus
        alumni friend relative kin respondent admin administrator operator 
        mitarbeiter patientin arzt lehrer schueler schuler angestellter versicherter bearbeiter
        sachbearbeiter empleado trabajador alumno estudiante profesor medico paciente conductor autor
        salarie eleve enseignant medecin conducteur auteur employe etudiant
        dipendente impiegato paziente studente docente autore medico funcionario aluno
        medewerker werknemer leerling docent socio miembro titular
        titulaire intestatario contacts""",
    "party": """provider customer cust customers client account acct supplier vendor seller buyer owner sender
        recipient consignee payee payer merchant partner agent host artist subscriber kunde kunden
        klant cliente fournisseur proveedor fornitore fornecedor lieferant leverancier borrower lessee
        debtor creditor organizer sponsor holder lead prospect shopper consumer bidder performer
        addressee receiver empfaenger empfanger destinatario destinataire besitzer eigentuemer
        inhaber proprietario dueno klient""",
    "by": "by por durch par von",
    "user": "user users usuario utilisateur utente gebruiker benutzer nutzer anvandare bruger",
    "parcel": """billing bill shipping ship delivery shipto billto lieferung rechnung entrega facturacion
        livraison facturation fatturazione envio consignment""",
    "call": "caller callee called calling dialed dialled anrufer",
    # --- identifying
    "username": """username userlogin loginname logonname benutzername gebruikersnaam nomeutente
        nomutilisateur nombreusuario screenname loginid logonid userid uname usr usrname 用户名""",
    "login": "login logon signin identifiant",
    "handle": "handle nickname nick alias screen",
    "password": """password passwd pwd passwort kennwort contrasena senha wachtwoord haslo mdp
        passphrase passcode pswd motdepasse heslo 密码 пароль pword passw passhash""",
    "pass": "pass passe clave",
    "secret": "secret geheimnis secreto",
    "salt": "salt",
    "token": "token jwt bearer otp totp",
    "access": "access auth refresh api reset session private oauth signing encryption recovery",
    "pin": "pin",
    "answer": "answer antwort respuesta",
    "security": "security securite seguridad sicurezza seguranca",
    "national_id": """ssn socialsecuritynumber cpf dni nif nie curp nir codicefiscale codfisc pesel bsn
        burgerservicenummer svnr sozialversicherungsnummer versicherungsnummer ahv ahvnr steueridnr
        steuerid personnummer personnr fodselsnummer cpr aadhaar aadhar nric mykad hkid cedula nino
        nin jmbg oib amka nationalid nationalidnumber personalausweis personalausweisnummer hetu
        henkilotunnus rodnecislo cnp egn rijksregisternummer securitesociale ausweisnummer
        identiteitsnummer rijksregister emso tckimlik tckn passportnumber passportno reisepass
        reisepassnummer pasaporte passeport passaporto passaporte passport 身份证 身份证号 身份证号码
        itin socsec socialsec driverslicense nhsnumber cnic""",
    "national_id_hint": "insee nhs sin tin rut run ci cf rg cni rfc amm steuernummer taxid nik",
    "national": "national nationale nacional nazionale",
    "social": "social sociale sozial",
    "identity": """identity identification identidad identite identidade identita ausweis identificacion
        identificativo identificacao""",
    "document": "document documento dokument",
    "tax": "tax fiscal fiscale steuer taxpayer",
    "licence": "license licence fuehrerschein fuhrerschein permis rijbewijs patente carnet",
    "driving": "driving conducir conduire drivers",
    "personal": "personal personale pessoal",
    "insurance": "insurance assurance versicherung",
    "card": "card karte carte tarjeta carta cartao kaart creditcard kreditkarte debitcard",
    "card_number": "cardnumber cardno cardnum kartennummer",
    "credit_card_number": "ccnumber ccnum ccno ccn creditcardnumber creditcardno kreditkartennummer",
    "credit": "credit debit kredit payment cc visa mastercard bancaria bancaire credito",
    "pan": "pan",
    "card_security": "cvv cvc cvv2 csc",
    "club": """loyalty gift library sim fidelity membership bonus fidelidad
        fidelite discount voucher graphics""",
    "ip": "ip ipv ipaddress ipaddr ipadresse ipv4 ipv6 remoteip clientip direccionip",
    "network": "remote server gateway peer node network",
    "mac": "mac macaddress macaddr bssid",
    "otherplace": """memory wallet contract bitcoin ethereum blockchain http bus register
        bytes pointer""",
    # --- dates and demography
    "dob": """dob birthdate birthday dateofbirth geburtsdatum geburtstag gebdat gebdatum datenaissance
        fechanacimiento fecnac datanascita datanascimento dtnasc geboortedatum fodselsdato fodelsedatum
        bday bdate birthdt 生日 出生日期 gebtag""",
    "birth": """birth geburt naissance nacimiento nascita nascimento geboorte born natal geb nac nasc
        fodsels urodzenia narozeni""",
    "date": "date datum fecha dato dt dat dati pvm",
    "year": "year jahr annee ano anno jaar yr yyyy",
    "month": "month monat mois mes mese mm maand",
    "day": "day jour dia giorno dag weekday",
    "gender": "gender sex geschlecht sexe sexo sesso geslacht genero kon kjonn",
    "marital": "marital civilstatus familienstand maritalstatus",
    "job": "job jobtitle occupation profession beruf profesion mestiere position designation",
    # --- other matter
    "company": """company firma firm organization organisation entreprise empresa azienda societe
        bedrijf employer business corporation unternehmen companyname societa""",
    "url": "url uri link website webpage homepage href webaddress weburl",
    "web": "web internet",
    "uuid": "uuid guid rowguid",
    "iban": "iban",
    "bic": "bic swift",
    "account": "konto kontonummer cuenta compte conto rekening",
    "currency": "currency ccy waehrung wahrung devise moneda divisa valuta moeda curr",
    "language": "language lang locale sprache langue idioma lingua taal idiom culture",
    "mime": "mime mimetype contenttype",
    "color": "color colour farbe couleur colore cor kleur",
    "vin": "vin fahrgestellnummer",
    "plate": "plate licenseplate kennzeichen matricula immatriculation targa kenteken",
    "isbn": "isbn",
    "ean": "ean gtin upc barcode",
    "money": """price cost amount salary wage income revenue subtotal fee balance budget preis
        betrag prix montant precio importe prezzo importo preco valor bedrag salaire gehalt lohn msrp
        amt paid turnover umsatz""",
    "percent": "percent percentage pct prozent pourcentage porcentaje percentuale ratio",
    "age": "age alter edad eta idade leeftijd",
    # --- aspects: what makes a column speak about a thing instead of holding it
    "hash": "hash digest checksum md5 sha1 sha256 hashed",
    "key": "key",
    "id": "id sk fk pk oid ref idx surrogate identifier",
    "kind": """type typ tipo kind category class status level rank group format classification
        art grade soort stage purpose""",
    "flag": """is has flag verified confirmed valid validated invalid enabled disabled opt optin optout
        consent allow allowed permitted active required expired subscribed unsubscribed bounced
        deleted visible can must should hide show notify notification dont
        missing blacklisted marketing change changed""",
    "measure": """count cnt counter anzahl qty quantity score length len size sum avg average mean
        rate min max attempts failed tries opens clicks sent opened clicked delivered limit
        latency duration ms ranking width height weight strength minutes seconds usage""",
    "time": """time at ts timestamp created updated modified expires expiry expiration since until
        hour start end hired joined effective seen""",
    "text": """template subject body text message msg description desc comment note notes label
        titel bezeichnung beschreibung remark remarks question hint summary""",
    "file": "file filename path photo image picture pic icon avatar archive attachment folder signature",
    "maker": "model brand make carrier operating os plan domain queue campaign list lists",
    "prefix": "prefix suffix area extension ext dial vorwahl durchwahl indicatif",
    "number": """number no num nr numero nummer numer num numbers nbr nro 号码""",
    "code": "code cod codigo codice kod cd",
    "title": "title",
    "version": "version release build firmware revision kernel",
    # --- things that bear names and are not persons
    "thing": """product item article artikel produkt producto produit prodotto produto part sku
        department dept abteilung event stop station airport airline route vessel boat
        storm hurricane pet animal dog cat horse breed species plant song track album movie film book
        game playlist genre tag team club league stadium school university college course
        module exam program project task role permission store shop
        branch warehouse location building room hotel restaurant bank hospital clinic pharmacy museum
        park river lake mountain island planet manufacturer
        publisher magazine journal newspaper drug medicine medication disease diagnosis treatment
        procedure allergy symptom ingredient recipe dish menu meal food drink wine beer fruit flower
        device sensor machine equipment vehicle car bike truck plane aircraft flight train tool
        process application app software system database table column schema
        page section chapter policy rule setting parameter feature metric
        segment channel medium promotion offer coupon order
        transaction shipment package parcel ticket case issue incident report
        survey option unit symbol ticker stock fund 
        bond exchange element material festival theater theatre
        concert band orchestra tournament match race season award prize skill 
        religion election neighborhood zone shift holiday
        calendar protocol kategorie marke filiale veranstaltung
        buch abteilungsname categoria marca evento libro curso categorie marque livre cours negozio
        corso tienda loja""",
    "neutral": """pub publication home work main invoice mailing current permanent
        primary secondary alternate office emergency new old previous physical
        registered correspondence residence residential to from sales service info
        details detail data value field raw dim stg tbl src fact the of for and
        de del la le di da do des du van der dos das adm loc corporate
        headquarters hq trabajo travail
        lavoro casa""",
}


def _index() -> dict[str, str]:
    index: dict[str, str] = {}
    for concept, words in _CONCEPTS.items():
        for word in words.split():
            index.setdefault(word, concept)
    return index


CONCEPT_OF: dict[str, str] = _index()
