"""What the made-up databases are about: the entities of each domain, and what refers to what.

An entity is a line: name and kind, then its references, then its attributes. Kinds say how many
rows a table has: ``lookup``, ``master``, ``event``; ``of:`` names what identifies its rows (other
entities, and a counter such as ``#line``, ``#year`` or ``#date``); ``is:`` is a
subtype, which shares its supertype's key; ``wide:`` is an ``of:`` with dozens of measures.

A reference is an entity, ``?`` marks an optional one. ``manager=employee`` is a role that replaces
the entity's name, ``billing+address`` one that qualifies it.
"""

from dataclasses import dataclass
from functools import cache

_DOMAINS = {
    "retail": """
    country lookup | | name
    city master | country | name population
    category lookup | parent+self? | name description
    brand lookup | country? | name
    supplier master | city payment-term? | name phone email
    product master | category brand? supplier? unit? | name price weight color status
    unit lookup | | name
    store master | city manager=employee? | name size start-date
    employee master | store manager=self? | name email birth-date salary
    customer master | city? customer-group? home+store? | name email phone status
    customer-group lookup | | name discount
    address master | customer city | street postcode
    order event | customer store? seller=employee? delivery+address? billing+address? currency?
        | order-date status total note
    order-line of:order,#line | product promotion? | quantity price discount
    payment event | order payment-method | payment-date amount
    payment-method lookup | | name
    payment-term lookup | | name day
    invoice event | order customer | invoice-date total status
    invoice-line of:invoice,#line | order-line? product | quantity amount tax
    stock of:store,product | | quantity min-quantity
    price of:product,#date | currency? | price
    promotion master | category? | name start-date end-date percent
    review event | product customer | score text date
    return event | order-line reason? | quantity date
    reason lookup | | description
    currency lookup | | name
    """,
    "purchasing": """
    company lookup | country | name
    country lookup | | name
    plant lookup | company country | name
    storage-location of:plant,#number | | name
    material master | material-type material-group unit | description weight status
    material-type lookup | | description
    material-group lookup | | description
    material-plant of:material,plant | purchase-group? | min-quantity price
    vendor master | country payment-term | name phone postcode
    payment-term lookup | | description day
    purchase-group lookup | | name phone
    unit lookup | | description
    purchase-order event | vendor company purchase-group currency created-by=user? | date status
    purchase-line of:purchase-order,#line | material plant | quantity price delivery-date
    schedule-line of:purchase-line,#sequence | | delivery-date quantity
    receipt event | purchase-line plant created-by=user? | date quantity note
    vendor-contact of:vendor,#number | | name phone email
    source-vendor of:material,vendor | plant? | price start-date
    request event | material plant requested-by=user? | quantity date status
    cost-center lookup | company manager=user? | description
    user master | cost-center? | login name email
    currency lookup | | description
    invoice event | purchase-order vendor | date total tax
    """,
    "clinic": """
    department lookup | head=clinician? | name phone
    specialty lookup | | name
    clinician master | department specialty supervisor=self? | name email phone
    patient master | primary+clinician? city? insurance? | name birth-date sex phone
    city lookup | | name
    insurance lookup | | name phone
    ward lookup | department | name capacity
    bed of:ward,#number | | status
    visit event | patient clinician ward? visit-type? | start-date end-date reason
    visit-type lookup | | name
    diagnosis of:visit,#sequence | disease clinician? | date note
    disease master | parent+self? | code name
    prescription event | visit patient clinician | date duration note
    prescription-line of:prescription,#line | drug | dose quantity duration
    drug master | maker? | name unit price
    maker lookup | | name
    drug-ingredient of:drug,ingredient | | amount
    ingredient lookup | | name
    appointment event | patient clinician room? previous+self? | start-time status
    room lookup | department | name size
    lab-request event | visit requested-by=clinician? | date status
    lab-result of:lab-request,lab-test | | value unit status
    lab-test lookup | | name unit min-value max-value
    emergency-contact of:patient,#sequence | | name phone relation
    procedure event | visit clinician deputy=clinician? room? | date cost
    """,
    "trial": """
    study lookup | | title status start-date
    site of:study,#site | country instructor=user? | name status
    country lookup | | name
    user master | | login name email
    arm of:study,#arm | | name dose
    subject of:study,#subject | country? | sex age status
    visit-plan of:study,#visit | | name day
    subject-visit of:subject,#visit | | visit-date status
    vital-sign of:subject,#sequence | | visit test result unit date
    lab-sample of:subject-visit,#sample | lab? | date type
    lab lookup | country? | name
    lab-result of:lab-sample,test | | value unit rank
    test lookup | unit? | name
    unit lookup | | name
    adverse-event of:subject,#sequence | severity? | text start-date end-date
    severity lookup | | name
    treatment-dose of:subject,#sequence | drug | dose date
    drug lookup | | name
    condition of:subject,#sequence | | text start-date
    question lookup | | text
    answer of:subject-visit,question | | value score
    """,
    "school": """
    school lookup | city head=teacher? | name phone
    city lookup | | name
    teacher master | school deputy=self? | name email salary
    program lookup | school | name
    course master | program teacher? previous+self? | title credit level
    term lookup | | name start-date end-date
    class of:course,term | teacher room? | capacity
    room lookup | building | name capacity
    building lookup | | name
    student master | program tutor=teacher? city? | name email birth-date
    guardian master | | name phone
    student-guardian of:student,guardian | | relation
    enrolment of:student,class | | date grade status
    exam of:class,#exam | room? | date max-score
    exam-result of:exam,student | | score grade
    attendance of:student,class,#date | reason? | status
    reason lookup | | name
    library-loan event | student book | start-date end-date
    book master | | title author year
    """,
    "library": """
    branch lookup | manager=staff? | name phone street
    staff master | branch supervisor=self? | name email
    publisher lookup | country? | name
    country lookup | | name
    language lookup | | name
    author master | country? | name birth-year
    book master | publisher language? category | title year page price
    category lookup | parent+self? | name
    book-author of:book,author | role? | rank
    role lookup | | name
    copy of:book,#copy | branch shelf? | status purchase-date
    shelf lookup | branch | name
    member master | branch? member-type | name email phone start-date
    member-type lookup | | name limit
    loan event | copy member staff? | start-date end-date status
    reservation event | book member branch? | date status
    charge event | loan member | amount date status
    tag lookup | | name
    book-tag of:book,tag | | date
    review of:book,member | | score text
    """,
    "league": """
    league lookup | country? | name level
    country lookup | | name
    season lookup | | year start-date
    stadium master | country? | name capacity
    franchise lookup | | name start-date
    team master | franchise? stadium? league | name
    player master | country? | name birth-date height weight
    position lookup | | name
    coach master | country? | name birth-date
    referee master | country? | name
    team-season wide:team,#year | league? coach? | rank
    player-season wide:player,#year,#passage | team-season position? |
    game event | season home+team away+team stadium? referee? | date home-score away-score
    game-event of:game,#sequence | player? team type? | minutes
    type lookup | | name
    lineup of:game,player | team position? | number minutes
    transfer event | player origin=team? destination=team | date amount
    award lookup | league? | name
    player-award of:player,award,#year | | points vote
    series of:#year,#round | winner+team-season loser+team-season | wins losses
    coach-season of:coach,#year | team-season? | wins losses rank
    salary of:player,#year | team-season | amount
    """,
    "telecom": """
    customer master | region segment? agent=employee? | name email phone
    region lookup | parent+self? | name
    segment lookup | | name
    employee master | region? manager=self? | name email
    account master | customer payer=customer? billing+address? | status start-date balance
    address master | region | street postcode
    plan lookup | plan-type? previous+self? | name price limit
    plan-type lookup | | name
    subscription event | account plan sim? | start-date end-date status
    sim master | | code status
    device master | device-model subscription? | code purchase-date
    device-model lookup | maker | name price
    maker lookup | | name
    call event | subscription origin+cell? destination+zone? | start-time duration charge
    cell master | region station? | capacity
    station lookup | region | name
    zone lookup | | name rate
    data-usage of:subscription,#date | | quantity count
    invoice event | account | invoice-date total tax status
    invoice-line of:invoice,#line | subscription charge-type | amount quantity
    charge-type lookup | tax-code? | name
    tax-code lookup | | name rate
    payment event | invoice account channel? | date amount
    channel lookup | | name
    ticket event | customer assignee=employee? created-by=employee? previous+self?
        | date status text
    """,
    "insurance": """
    person master | city? | name birth-date sex phone
    customer is:person | segment? | start-date score
    agent is:person | branch supervisor=self? | start-date rate
    expert is:person | specialty? | cost
    specialty lookup | | name
    city lookup | region | name
    region lookup | | name
    branch lookup | city | name phone
    segment lookup | | name
    product lookup | product-line | name
    product-line lookup | | name
    coverage of:product,#number | risk? | name limit
    risk lookup | | name rate
    policy event | product holder=customer agent? payer=customer? previous+self?
        | start-date end-date premium status
    policy-version of:policy,#version | | date premium limit
    policy-coverage of:policy,coverage | | limit premium
    insured of:policy,person | relation? | percent
    relation lookup | | name
    vehicle master | vehicle-model policy? | year value
    vehicle-model lookup | maker | name
    maker lookup | | name
    claim event | policy expert? vehicle? status? | date amount text
    status lookup | | name
    claim-payment of:claim,#number | beneficiary=person? | date amount
    reserve of:claim,#month | | amount
    """,
    "logistics": """
    country lookup | | name
    port master | country | name capacity
    warehouse master | city manager=employee? | name size
    city master | country | name postcode
    employee master | warehouse? manager=self? | name email salary
    driver is:employee | | limit date
    carrier lookup | country? | name phone
    vehicle master | carrier home+warehouse? vehicle-type | weight year status
    vehicle-type lookup | | name capacity
    client master | city billing+city? | name email phone
    route master | origin+city destination+city | distance duration
    route-stop of:route,#sequence | city | duration
    trip event | route vehicle driver deputy=driver? | start-time end-time status
    shipment event | client sender=client? origin+warehouse destination+warehouse trip? service?
        | date weight status
    service lookup | | name rate
    parcel of:shipment,#parcel | parcel-type? | weight height value
    parcel-type lookup | | name
    tracking of:parcel,#sequence | location=city? status? | time
    status lookup | | name
    tariff of:service,zone,#date | currency? | price
    zone lookup | | name
    city-zone of:city,service | zone |
    currency lookup | | name
    customs-document event | shipment country port? | date total
    container master | owner=carrier port? | size weight
    """,
    "statistics": """
    region lookup | capital=commune? | name area
    department lookup | region capital=commune? | name area
    district master | department | name
    commune master | district department? parent+self? | name population area
    commune-history of:commune,#date | | name status
    sector lookup | parent+self? | name
    indicator lookup | sector? unit | name description
    unit lookup | | name
    source lookup | | name year
    variable master | indicator source? | name description
    measure of:commune,indicator,#year | source? | value
    census wide:commune,#year | |
    department-year wide:department,#year | |
    facility master | commune facility-type | name street capacity start-date
    facility-type lookup | sector? | name
    school master | commune | name level count
    survey lookup | source | name date
    household event | survey commune | size income weight
    person-answer of:household,#person | | age sex income level
    road master | origin+commune destination+commune | distance
    postcode of:commune,#number | | postcode
    """,
    "genomics": """
    organism lookup | | name
    assembly lookup | organism previous+self? | name version date
    chromosome of:assembly,#number | | name size
    gene master | organism type? | name description score
    transcript master | gene analysis? | name start-position end-position
    exon of:transcript,#rank | | start-position end-position score
    protein master | transcript | name size weight
    type lookup | | name description
    analysis lookup | program? | name date
    program lookup | | name version
    variant master | chromosome gene? source? | position score
    source lookup | | name version
    allele of:variant,#allele | | text rate
    sample master | organism donor=person? parent+self? | date type
    person master | | sex age
    experiment event | sample assay analysis? operator=person? | date status
    assay lookup | | name
    expression wide:gene,sample | |
    genotype of:sample,variant | first+allele? | score quality
    feature event | gene? transcript? analysis | start-position end-position score
    phenotype lookup | parent+self? | name
    gene-phenotype of:gene,phenotype | source? | score
    reference of:gene,#number | source | code
    """,
    "forum": """
    user master | role? | login name email date
    role lookup | parent+self? | name
    permission lookup | | name
    role-permission of:role,permission | |
    profile is:user | language? | text birth-date
    language lookup | | name
    category lookup | parent+self? | name rank
    forum lookup | category owner=user? | name count
    thread event | forum author=user last+post? | title date status
    post event | thread author=user parent+self? approved-by=user? | text date score
    vote of:post,user | | value date
    tag lookup | | name count
    thread-tag of:thread,tag | |
    message event | sender=user target=user? parent+self? | text date
    file event | post? owner=user | name size date
    page master | author=user? parent+self? | title text version
    page-version of:page,#version | author=user? | text date
    menu lookup | parent+self? page? | name rank
    subscription of:user,forum | | date
    comment event | page author=user? | text date
    award lookup | | name points
    user-award of:user,award | | date
    """,
    "manufacturing": """
    plant lookup | city? manager=employee? | name
    city lookup | | name
    employee master | plant shift? manager=self? | name salary
    shift lookup | | name start-time
    machine master | plant machine-type | name year
    machine-type lookup | | name capacity
    product master | product-group unit successor=product? | name price weight
    product-group lookup | parent+self? | name
    unit lookup | | name
    component of:parent+product,component+product | unit? | quantity
    routing of:product,#sequence | machine-type? operation | duration
    operation lookup | | name cost
    production-order event | product plant previous+self? | quantity start-date end-date status
    operation-log of:production-order,#sequence | machine operator=employee? operation
        | start-time duration
    batch event | production-order product | quantity date
    quality-check event | batch checked-by=employee? approved-by=employee? | date result
    defect of:quality-check,defect-type | | count note
    defect-type lookup | severity? | name
    severity lookup | | name
    material-usage of:production-order,batch | | quantity
    machine-reading of:machine,#date | | value max-value
    maintenance event | machine employee vendor? | date cost duration
    vendor lookup | | name phone
    """,
    "hr": """
    department lookup | parent+self? manager=employee? location cost-center? | name budget
    location lookup | country | street postcode name
    country lookup | region | name
    region lookup | | name
    cost-center lookup | owner=employee? | name budget
    job lookup | job-group? | title min-salary max-salary
    job-group lookup | | name
    employee master | department job manager=self? birth+country?
        | name email phone birth-date salary
    job-history of:employee,#date | job department | end-date
    salary of:employee,#date | currency? approved-by=employee? | amount
    currency lookup | | name
    contract event | employee contract-type | start-date end-date percent
    contract-type lookup | | name
    skill lookup | skill-group? | name
    skill-group lookup | | name
    employee-skill of:employee,skill | assessment+level? | date
    level lookup | | name
    training master | skill? instructor=employee? | title duration cost
    training-session of:training,#session | location? | date capacity
    enrolment of:employee,training-session | | status score
    leave event | employee leave-type approved-by=employee? deputy=employee? | start-date end-date
    leave-type lookup | | name
    payslip of:employee,#month | | amount tax total
    payslip-line of:payslip,#line | pay-item | amount
    pay-item lookup | | name rate
    project master | department owner=employee? client? | title budget start-date
    client master | country? | name
    allocation of:project,employee | role? | percent start-date
    role lookup | | name
    """,
    "finance": """
    client master | country tax-country=country? branch? advisor=employee? | name email income
    country lookup | | name
    branch lookup | city | name
    city lookup | country? | name
    employee master | branch manager=self? | name email
    account master | client branch account-type currency | balance start-date limit
    account-type lookup | | name rate
    currency lookup | | name
    exchange-rate of:source+currency,target+currency,#date | | rate
    transaction event | account target+account? transaction-type channel? | date amount balance text
    transaction-type lookup | parent+self? | name
    channel lookup | | name
    card master | account card-type? holder=client? | number end-date limit
    card-type lookup | | name
    loan event | account product? approved-by=employee? | amount rate start-date duration
    product lookup | | name
    loan-payment of:loan,#number | | date amount balance
    guarantee event | loan guarantor=client | value date
    portfolio master | client manager=employee? | name
    fund master | currency maker=company? | name risk
    company lookup | country | name
    holding of:portfolio,fund,#date | | quantity value
    price of:fund,#date | | price
    ledger-account master | parent+self? account-group? | name level
    account-group lookup | | name
    journal-entry event | created-by=employee? period? | date text
    journal-line of:journal-entry,#line | ledger-account cost-center? | amount text
    cost-center lookup | | name
    period lookup | | year month
    """,
}


@dataclass(frozen=True, slots=True)
class Reference:
    """An entity's reference to another: ``role`` qualifies the other's name or replaces it."""

    entity: str
    role: str = ""
    is_qualifier: bool = False
    is_optional: bool = False


@dataclass(frozen=True, slots=True)
class Entity:
    """An entity of a domain; ``parts`` and ``counter`` identify its rows, if it has such."""

    name: str
    kind: str
    parts: tuple[Reference, ...]
    counters: tuple[str, ...]
    references: tuple[Reference, ...]
    attributes: tuple[str, ...]


@cache
def domain(name: str) -> dict[str, Entity]:
    """Return the entities of a domain by name."""
    text = _DOMAINS[name].replace("\n        |", " |")
    entities = (_read_entity(line) for line in text.strip().splitlines())
    return {entity.name: entity for entity in entities}


def domain_names() -> list[str]:
    return list(_DOMAINS)


def _read_entity(line: str) -> Entity:
    head, references, attributes = line.split("|")
    name, kind_and_parts = head.split()
    kind, _, parts = kind_and_parts.partition(":")
    identifiers = [part for part in parts.split(",") if part]
    return Entity(
        name,
        kind,
        tuple(_read_reference(part, name) for part in identifiers if part[0] != "#"),
        tuple(part[1:] for part in identifiers if part[0] == "#"),
        tuple(_read_reference(word, name) for word in references.split()),
        tuple(attributes.split()),
    )


def _read_reference(text: str, owner: str) -> Reference:
    is_optional = text.endswith("?")
    text = text.rstrip("?")
    role, sign, entity = "", "", text
    for sign in "=+":
        if sign in text:
            role, _, entity = text.partition(sign)
            break
    return Reference(owner if entity == "self" else entity, role, sign == "+", is_optional)
