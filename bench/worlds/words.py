"""The words that names are made of, in seven languages, and how a language puts them together."""

LANGUAGES = ("en", "fr", "es", "de", "pt", "it", "nl")
ROMANCE = frozenset({"fr", "es", "pt", "it"})

_TABLE = """
account compte cuenta konto conta conto rekening
action action accion aktion acao azione actie
active actif activo aktiv ativo attivo actief
activity activite actividad aktivitaet atividade attivita activiteit
address adresse direccion adresse endereco indirizzo adres
adverse indesirable adverso unerwuenscht adverso avverso ongewenst
advisor conseiller asesor berater assessor consulente adviseur
age age edad alter idade eta leeftijd
agent agent agente agent agente agente agent
allele allele alelo allel alelo allele allel
allocation affectation asignacion zuteilung alocacao assegnazione toewijzing
amount montant importe betrag valor importo bedrag
analysis analyse analisis analyse analise analisi analyse
answer reponse respuesta antwort resposta risposta antwoord
appointment rendezvous cita termin consulta appuntamento afspraak
approved approuve aprobado genehmigt aprovado approvato goedgekeurd
area surface superficie flaeche area superficie oppervlakte
arm bras brazo arm braco braccio arm
article article articulo artikel artigo articolo artikel
assay dosage ensayo assay ensaio saggio bepaling
assembly assemblage ensamblaje assembly montagem assemblaggio assemblage
assessment evaluation evaluacion bewertung avaliacao valutazione beoordeling
assignee responsable responsable bearbeiter responsavel assegnatario behandelaar
assists passes asistencias vorlagen assistencias assist assists
attendance presence asistencia anwesenheit presenca presenza aanwezigheid
audit audit auditoria revision auditoria audit audit
author auteur autor autor autor autore auteur
award prix premio preis premio premio prijs
away exterieur visitante gast visitante trasferta uit
bag sac bolsa sack saco sacco zak
balance solde saldo saldo saldo saldo saldo
band tranche banda band faixa fascia klasse
bank banque banco bank banco banca bank
batch lot lote charge lote lotto partij
bed lit cama bett leito letto bed
beneficiary beneficiaire beneficiario beguenstigter beneficiario beneficiario begunstigde
benefit prestation beneficio leistung beneficio beneficio uitkering
billing facturation facturacion rechnung cobranca fatturazione factuur
birth naissance nacimiento geburt nascimento nascita geboorte
book livre libro buch livro libro boek
booking reservation reserva buchung reserva prenotazione boeking
borrower emprunteur prestatario entleiher mutuario prestatario lener
branch agence sucursal filiale agencia filiale filiaal
brand marque marca marke marca marca merk
budget budget presupuesto budget orcamento budget budget
building batiment edificio gebaeude predio edificio gebouw
by par por von por da door
call appel llamada anruf chamada chiamata oproep
campaign campagne campana kampagne campanha campagna campagne
capacity capacite capacidad kapazitaet capacidade capacita capaciteit
capital capitale capital hauptstadt capital capoluogo hoofdstad
card carte tarjeta karte cartao carta kaart
carrier transporteur transportista spediteur transportadora vettore vervoerder
cart panier carrito warenkorb carrinho carrello mandje
category categorie categoria kategorie categoria categoria categorie
cell cellule celda zelle celula cella cel
census recensement censo zensus censo censimento telling
center centre centro stelle centro centro plaats
changed change cambiado geaendert alterado variato gewijzigd
channel canal canal kanal canal canale kanaal
charge frais cargo gebuehr tarifa addebito heffing
check controle control pruefung verificacao controllo controle
checked verifie verificado geprueft verificado verificato gecontroleerd
chromosome chromosome cromosoma chromosom cromossomo cromosoma chromosoom
city ville ciudad stadt cidade citta stad
claim sinistre siniestro schaden sinistro sinistro schade
class classe clase klasse turma classe klas
client client cliente kunde cliente cliente klant
clinician praticien medico arzt clinico clinico arts
club club club verein clube club club
coach entraineur entrenador trainer treinador allenatore coach
code code codigo code codigo codice code
color couleur color farbe cor colore kleur
comment commentaire comentario kommentar comentario commento reactie
commune commune municipio gemeinde municipio comune gemeente
company societe empresa firma empresa azienda bedrijf
competition competition competicion wettbewerb competicao competizione competitie
component composant componente bauteil componente componente onderdeel
condition affection condicion bedingung condicao condizione aandoening
contact contact contacto kontakt contato contatto contact
container conteneur contenedor container conteiner contenitore container
contract contrat contrato vertrag contrato contratto contract
copy exemplaire ejemplar exemplar exemplar copia exemplaar
cost cout coste kosten custo costo kosten
count nombre cantidad anzahl contagem numero aantal
country pays pais land pais paese land
course cours curso kurs curso corso cursus
coverage couverture cobertura deckung cobertura copertura dekking
created cree creado erstellt criado creato aangemaakt
credit credit credito kredit credito credito krediet
currency devise moneda waehrung moeda valuta valuta
customer client cliente kunde cliente cliente klant
customs douane aduana zoll alfandega dogana douane
data donnees datos daten dados dati data
date date fecha datum data data datum
day jour dia tag dia giorno dag
deaths deces muertes todesfaelle obitos decessi sterfgevallen
defect defaut defecto fehler defeito difetto defect
deleted supprime eliminado geloescht excluido eliminato verwijderd
delivery livraison entrega lieferung entrega consegna levering
department departement departamento abteilung departamento reparto afdeling
deputy suppleant suplente stellvertreter suplente sostituto plaatsvervanger
description description descripcion beschreibung descricao descrizione omschrijving
destination destination destino ziel destino destinazione bestemming
device appareil dispositivo geraet dispositivo dispositivo apparaat
diagnosis diagnostic diagnostico diagnose diagnostico diagnosi diagnose
discount remise descuento rabatt desconto sconto korting
disease maladie enfermedad krankheit doenca malattia ziekte
distance distance distancia entfernung distancia distanza afstand
district district distrito kreis distrito distretto district
division division division division divisao divisione divisie
document document documento dokument documento documento document
donor donneur donante spender doador donatore donor
dose dose dosis dosis dose dose dosis
driver conducteur conductor fahrer motorista autista chauffeur
drug medicament farmaco medikament medicamento farmaco geneesmiddel
duration duree duracion dauer duracao durata duur
email courriel correo email email email email
emergency urgence emergencia notfall emergencia emergenza nood
employee employe empleado mitarbeiter funcionario dipendente medewerker
end fin fin ende fim fine einde
enrolment inscription matricula einschreibung matricula iscrizione inschrijving
entry ecriture asiento eintrag lancamento registrazione boeking
event evenement evento ereignis evento evento gebeurtenis
exam examen examen pruefung exame esame examen
exchange change cambio wechsel cambio cambio wissel
exon exon exon exon exon esone exon
experiment experience experimento experiment experimento esperimento experiment
expert expert perito gutachter perito perito expert
expression expression expresion expression expressao espressione expressie
facility etablissement instalacion anlage instalacao impianto vestiging
fact fait hecho fakt fato fatto feit
feature caracteristique rasgo merkmal caracteristica caratteristica kenmerk
file fichier archivo datei arquivo file bestand
first premier primero erste primeiro primo eerste
forum forum foro forum forum forum forum
franchise franchise franquicia franchise franquia franchigia franchise
fund fonds fondo fonds fundo fondo fonds
game match partido spiel jogo partita wedstrijd
gene gene gen gen gene gene gen
genotype genotype genotipo genotyp genotipo genotipo genotype
goals buts goles tore gols gol doelpunten
grade note nota note nota voto cijfer
group groupe grupo gruppe grupo gruppo groep
guarantee garantie garantia buergschaft garantia garanzia garantie
guarantor garant avalista buerge fiador garante borg
guardian tuteur tutor vormund responsavel tutore voogd
head chef jefe leiter chefe capo hoofd
height taille altura hoehe altura altezza hoogte
hierarchy hierarchie jerarquia hierarchie hierarquia gerarchia hierarchie
history historique historial historie historico storico historie
holder titulaire titular inhaber titular titolare houder
holding avoir tenencia depot posicao possesso bezit
home domicile local heim casa casa thuis
household menage hogar haushalt domicilio famiglia huishouden
income revenu ingreso einkommen renda reddito inkomen
indicator indicateur indicador indikator indicador indicatore indicator
ingredient ingredient ingrediente inhaltsstoff ingrediente ingrediente ingredient
instructor formateur instructor dozent instrutor istruttore docent
insurance assurance seguro versicherung seguro assicurazione verzekering
insured assure asegurado versicherter segurado assicurato verzekerde
inventory inventaire inventario inventar inventario inventario inventaris
invoice facture factura rechnung fatura fattura factuur
item article articulo artikel item articolo artikel
job poste puesto stelle cargo mansione functie
journal journal diario journal diario giornale dagboek
lab labo laboratorio labor laboratorio laboratorio lab
language langue idioma sprache idioma lingua taal
last dernier ultimo letzte ultimo ultimo laatste
league ligue liga liga liga lega liga
leave conge permiso urlaub licenca permesso verlof
ledger livre mayor hauptbuch razao mastro grootboek
level niveau nivel stufe nivel livello niveau
library bibliotheque biblioteca bibliothek biblioteca biblioteca bibliotheek
limit limite limite limit limite limite limiet
line ligne linea position linha riga regel
lineup feuille alineacion aufstellung escalacao formazione opstelling
loan pret prestamo ausleihe emprestimo prestito lening
location emplacement ubicacion ort local ubicazione locatie
log journal registro protokoll registro registro logboek
login identifiant usuario login login login login
loser perdant perdedor verlierer perdedor perdente verliezer
losses defaites derrotas niederlagen derrotas sconfitte verliezen
machine machine maquina maschine maquina macchina machine
maintenance maintenance mantenimiento wartung manutencao manutenzione onderhoud
maker fabricant fabricante hersteller fabricante produttore maker
manager responsable gerente leiter gerente responsabile manager
material matiere material material material materiale materiaal
max max max max max max max
mean moyenne media mittel media media gemiddelde
measure mesure medida messung medida misura meting
member adherent socio mitglied membro socio lid
menu menu menu menue menu menu menu
message message mensaje nachricht mensagem messaggio bericht
meter compteur contador zaehler medidor contatore meter
method methode metodo methode metodo metodo methode
min min min min min min min
minutes minutes minutos minuten minutos minuti minuten
model modele modelo modell modelo modello model
module module modulo modul modulo modulo module
month mois mes monat mes mese maand
monthly mensuel mensual monatlich mensal mensile maandelijks
name nom nombre name nome nome naam
network reseau red netz rede rete netwerk
node noeud nodo knoten no nodo knoop
note remarque nota notiz nota nota notitie
number numero numero nummer numero numero nummer
object objet objeto objekt objeto oggetto object
old ancien viejo alt antigo vecchio oud
operation operation operacion arbeitsgang operacao operazione bewerking
operator operateur operador bediener operador operatore operator
order commande pedido auftrag pedido ordine bestelling
organism organisme organismo organismus organismo organismo organisme
origin origine origen herkunft origem origine herkomst
owner proprietaire propietario besitzer proprietario proprietario eigenaar
page page pagina seite pagina pagina pagina
parcel colis paquete paket pacote pacco pakket
parent parent padre ober pai padre ouder
patient patient paciente patient paciente paziente patient
pay paie pago lohn pagamento paga loon
payer payeur pagador zahler pagador pagatore betaler
payment paiement pago zahlung pagamento pagamento betaling
payslip bulletin nomina abrechnung holerite cedolino loonstrook
percent pourcentage porcentaje prozent percentual percentuale procent
period periode periodo periode periodo periodo periode
permission droit permiso recht permissao permesso recht
person personne persona person pessoa persona persoon
phenotype phenotype fenotipo phaenotyp fenotipo fenotipo fenotype
phone telephone telefono telefon telefone telefono telefoon
plan forfait plan tarif plano piano plan
plant usine planta werk fabrica stabilimento fabriek
player joueur jugador spieler jogador giocatore speler
points points puntos punkte pontos punti punten
policy police poliza police apolice polizza polis
population population poblacion bevoelkerung populacao popolazione bevolking
port port puerto hafen porto porto haven
portfolio portefeuille cartera portfolio carteira portafoglio portefeuille
position position posicion position posicao posizione positie
post billet entrada beitrag postagem articolo bericht
postcode codepostal postal plz cep cap postcode
premium prime prima praemie premio premio premie
prescription ordonnance receta rezept receita ricetta recept
previous precedent anterior vorgaenger anterior precedente vorige
price prix precio preis preco prezzo prijs
primary principal principal haupt principal principale hoofd
procedure acte procedimiento prozedur procedimento procedura verrichting
product produit producto produkt produto prodotto product
production production produccion fertigung producao produzione productie
profile profil perfil profil perfil profilo profiel
program programme programa programm programa programma programma
project projet proyecto projekt projeto progetto project
promotion promotion promocion aktion promocao promozione promotie
protein proteine proteina protein proteina proteina eiwit
province province provincia provinz provincia provincia provincie
publisher editeur editorial verlag editora editore uitgever
purchase achat compra einkauf compra acquisto inkoop
quality qualite calidad qualitaet qualidade qualita kwaliteit
quantity quantite cantidad menge quantidade quantita aantal
quarter trimestre trimestre quartal trimestre trimestre kwartaal
question question pregunta frage pergunta domanda vraag
rank rang rango rang posicao rango rang
rate taux tasa satz taxa tasso tarief
reading releve lectura ablesung leitura lettura meting
reason motif motivo grund motivo motivo reden
receipt recu recibo quittung recibo ricevuta bon
referee arbitre arbitro schiedsrichter arbitro arbitro scheidsrechter
reference reference referencia referenz referencia riferimento referentie
region region region region regiao regione regio
registration inscription registro anmeldung registro registrazione registratie
relation relation relacion beziehung relacao relazione relatie
request demande solicitud anfrage solicitacao richiesta aanvraag
requested demande solicitado angefordert solicitado richiesto aangevraagd
reservation reservation reserva vormerkung reserva prenotazione reservering
reserve reserve reserva reserve reserva riserva reserve
result resultat resultado ergebnis resultado risultato resultaat
return retour devolucion retoure devolucao reso retour
review avis resena bewertung avaliacao recensione recensie
risk risque riesgo risiko risco rischio risico
road route carretera strasse estrada strada weg
role role rol rolle funcao ruolo rol
room salle sala raum sala stanza kamer
round tour ronda runde rodada turno ronde
route itineraire ruta route rota percorso route
routing gamme ruta arbeitsplan roteiro ciclo routing
salary salaire salario gehalt salario stipendio salaris
sale vente venta verkauf venda vendita verkoop
sample echantillon muestra probe amostra campione monster
schedule planning horario plan horario orario rooster
school ecole escuela schule escola scuola school
score note puntuacion punktzahl pontuacao punteggio score
season saison temporada saison temporada stagione seizoen
sector secteur sector sektor setor settore sector
segment segment segmento segment segmento segmento segment
seller vendeur vendedor verkaeufer vendedor venditore verkoper
sender expediteur remitente absender remetente mittente afzender
sequence sequence secuencia sequenz sequencia sequenza volgorde
series serie serie serie serie serie serie
service service servicio dienst servico servizio dienst
session session sesion sitzung sessao sessione sessie
setting parametre parametro einstellung parametro impostazione instelling
severity gravite gravedad schweregrad gravidade gravita ernst
sex sexe sexo geschlecht sexo sesso geslacht
shelf rayon estante regal prateleira scaffale schap
shift equipe turno schicht turno turno ploeg
shipment expedition envio sendung remessa spedizione zending
sign signe signo zeichen sinal segno teken
sim sim sim sim sim sim sim
site site sitio standort sitio sito locatie
size taille tamano groesse tamanho misura maat
skill competence habilidad faehigkeit habilidade competenza vaardigheid
source source fuente quelle fonte fonte bron
specialty specialite especialidad fachgebiet especialidade specialita specialisme
stadium stade estadio stadion estadio stadio stadion
staff personnel personal personal pessoal personale personeel
start debut inicio beginn inicio inizio begin
station station estacion station estacao stazione station
status statut estado status situacao stato status
step etape paso schritt etapa passo stap
passage passage etapa einsatz passagem periodo periode
stock stock existencia bestand estoque giacenza voorraad
stop arret parada halt parada fermata halte
storage stockage almacenaje lager armazenagem deposito opslag
store magasin tienda filiale loja negozio winkel
street rue calle strasse rua via straat
student etudiant alumno student aluno studente student
study etude estudio studie estudo studio studie
subject sujet sujeto proband sujeito soggetto proefpersoon
subscriber abonne abonado abonnent assinante abbonato abonnee
subscription abonnement suscripcion abonnement assinatura abbonamento abonnement
successor successeur sucesor nachfolger sucessor successore opvolger
summary resume resumen uebersicht resumo riepilogo overzicht
supervisor superviseur supervisor vorgesetzter supervisor supervisore supervisor
supplier fournisseur proveedor lieferant fornecedor fornitore leverancier
survey enquete encuesta umfrage pesquisa indagine enquete
symptom symptome sintoma symptom sintoma sintomo symptoom
tag etiquette etiqueta schlagwort etiqueta etichetta label
target cible objetivo ziel alvo obiettivo doel
tariff tarif tarifa tarif tarifa tariffa tarief
task tache tarea aufgabe tarefa compito taak
tax taxe impuesto steuer imposto imposta belasting
teacher enseignant profesor lehrer professor docente leraar
team equipe equipo mannschaft equipe squadra team
tenant locataire inquilino mandant inquilino tenant huurder
term terme plazo frist prazo termine termijn
test test prueba test teste test test
text texte texto text texto testo tekst
thread fil hilo thema topico discussione onderwerp
ticket ticket ticket ticket chamado ticket ticket
time heure hora zeit hora ora tijd
title titre titulo titel titulo titolo titel
total total total summe total totale totaal
tour tournee gira tour rota giro rit
tracking suivi seguimiento verfolgung rastreio tracciamento tracering
training formation formacion schulung treinamento formazione training
transaction transaction transaccion transaktion transacao transazione transactie
transcript transcrit transcrito transkript transcrito trascritto transcript
transfer transfert transferencia transfer transferencia trasferimento transfer
treatment traitement tratamiento behandlung tratamento trattamento behandeling
trip voyage viaje fahrt viagem viaggio rit
tutor tuteur tutor tutor tutor tutore tutor
type type tipo typ tipo tipo type
unit unite unidad einheit unidade unita eenheid
updated modifie modificado geaendert alterado modificato gewijzigd
usage consommation consumo verbrauch consumo consumo verbruik
user utilisateur usuario benutzer usuario utente gebruiker
valid valide vigente gueltig vigente valido geldig
value valeur valor wert valor valore waarde
variable variable variable variable variavel variabile variabele
variant variante variante variante variante variante variant
vehicle vehicule vehiculo fahrzeug veiculo veicolo voertuig
vendor fournisseur vendedor lieferant fornecedor fornitore leverancier
version version version version versao versione versie
visit visite visita besuch visita visita bezoek
vital vital vital vital vital vitale vitaal
vote vote voto stimme voto voto stem
ward service planta station ala corsia afdeling
warehouse entrepot almacen lager armazem magazzino magazijn
week semaine semana woche semana settimana week
weight poids peso gewicht peso peso gewicht
winner vainqueur ganador gewinner vencedor vincitore winnaar
wins victoires victorias siege vitorias vittorie overwinningen
year annee ano jahr ano anno jaar
zone zone zona zone zona zona zone
"""

_WORDS: dict[str, dict[str, str]] = {
    row.split()[0]: dict(zip(LANGUAGES, row.split(), strict=True))
    for row in _TABLE.strip().splitlines()
}


def translate(compound: str, language: str, *, particle: bool = False) -> list[str]:
    """Return the words of a compound such as ``order-line``; KeyError if one is unknown.

    Romance languages put the head first, with a particle between if asked.
    """
    words = [_WORDS[word][language] for word in compound.split("-")]
    if language not in ROMANCE or len(words) == 1 or compound.endswith("-by"):
        return words
    words.reverse()
    return [words[0], {"it": "di"}.get(language, "de"), *words[1:]] if particle else words


def plural(word: str, language: str) -> str:
    """Return the plural of a word by the commonest rule of its language."""
    last = word[-1]
    if language == "en":
        if last == "y" and word[-2] not in "aeiou":
            return word[:-1] + "ies"
        return word + ("es" if word.endswith(("s", "x", "ch", "sh")) else "s")
    if language == "it":
        return word[:-1] + {"a": "e", "o": "i", "e": "i"}.get(last, last)
    if language == "de":
        return word if word.endswith("er") else word + ("n" if last == "e" else "en")
    if language == "nl":
        return word + ("s" if last in "er" else "en")
    if last in "sxz":
        return word
    if language == "fr":
        return word + ("x" if word.endswith("eau") else "s")
    return word + ("s" if last in "aeiou" else "es")
