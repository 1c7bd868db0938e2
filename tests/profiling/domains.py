"""Small databases of everyday domains, in SQL, with the references that are meant in each.

``pick(i, salt, n)`` draws from 0 to n - 1; see ``databases``.
"""

from typing import NamedTuple


class Domain(NamedTuple):
    """A database as a script, and its intended foreign keys as ``child(a) -> parent(b)``."""

    script: str
    meant: frozenset[str]


def _meant(text: str) -> frozenset[str]:
    return frozenset(line.strip() for line in text.strip().splitlines())


CLINIC = Domain(
    """
    CREATE TABLE doctors AS SELECT 1 + i AS doctor_id, 'Doctor ' || chr(65 + i::INTEGER) AS
        full_name, 1 + pick(i, 1, 6) AS ward_id FROM range(24) t(i);
    CREATE TABLE wards AS SELECT 1 + i AS ward_id, 'Ward ' || i AS name, 10 + pick(i, 2, 30) AS beds
        FROM range(6) t(i);
    CREATE TABLE patients AS SELECT 1 + i AS patient_id, 'Patient ' || pick(i, 3, 400) AS full_name,
        DATE '1940-01-01' + pick(i, 4, 25000) AS born,
        if(i % 4 = 0, NULL, 1 + pick(i, 5, 24)) AS family_doctor_id FROM range(500) t(i);
    CREATE TABLE appointments AS SELECT 1 + i AS appointment_id, 1 + pick(i, 6, 500) AS patient_id,
        1 + pick(i, 7, 24) AS doctor_id, TIMESTAMP '2024-01-01 08:00:00' + INTERVAL (i * 10) MINUTE
        AS starts_at, 10 + pick(i, 8, 5) * 5 AS minutes FROM range(3000) t(i);
    CREATE TABLE drugs AS SELECT 'D' || lpad((i * 37 % 1000)::VARCHAR, 4, '0') AS drug_code,
        'Drug ' || i AS name FROM range(90) t(i);
    CREATE TABLE prescriptions AS SELECT 1 + i AS prescription_id,
        1 + pick(i, 9, 3000) AS appointment_id, 'D' || lpad((pick(i, 10, 90) * 37 % 1000)::VARCHAR,
        4, '0') AS drug_code, 1 + pick(i, 11, 10) AS quantity FROM range(2500) t(i);
    """,
    _meant("""
    doctors(ward_id) -> wards(ward_id)
    patients(family_doctor_id) -> doctors(doctor_id)
    appointments(patient_id) -> patients(patient_id)
    appointments(doctor_id) -> doctors(doctor_id)
    prescriptions(appointment_id) -> appointments(appointment_id)
    prescriptions(drug_code) -> drugs(drug_code)
    """),
)

LIBRARY = Domain(
    """
    CREATE TABLE author AS SELECT 1 + i AS id, 'Author ' || i AS name FROM range(120) t(i);
    CREATE TABLE publisher AS SELECT 1 + i AS id, 'House ' || i AS name, 'City ' || pick(i, 1, 9) AS
        city FROM range(15) t(i);
    CREATE TABLE book AS SELECT 1 + i AS id, '978' || lpad((i * 7919 % 10000000)::VARCHAR, 10, '0')
        AS isbn, 'Title ' || i AS title, 1 + pick(i, 2, 15) AS publisher_id,
        1950 + pick(i, 3, 70) AS year_published, 80 + pick(i, 4, 700) AS pages FROM range(800) t(i);
    CREATE TABLE book_author AS SELECT 1 + i AS book_id, 1 + pick(i, 5, 120) AS author_id
        FROM range(800) t(i) UNION SELECT 1 + i, 1 + pick(i, 6, 120) FROM range(0, 800, 3)
        t(i) ORDER BY 1, 2;
    CREATE TABLE member AS SELECT 1 + i AS id, 'Member ' || i AS name, 'm' || i || '@example.org' AS
        email FROM range(300) t(i);
    CREATE TABLE copy AS SELECT 1 + i AS id, 1 + pick(i, 7, 800) AS book_id, 'S' || pick(i, 8, 40)
        AS shelf FROM range(1500) t(i);
    CREATE TABLE loan AS SELECT 1 + i AS id, 1 + pick(i, 9, 1500) AS copy_id,
        1 + pick(i, 10, 300) AS member_id, DATE '2023-01-01' + (i // 9)::INTEGER AS lent_on,
        if(i % 7 = 0, NULL, DATE '2023-01-15' + (i // 9)::INTEGER) AS returned_on
        FROM range(4000) t(i);
    """,
    _meant("""
    book(publisher_id) -> publisher(id)
    book_author(book_id) -> book(id)
    book_author(author_id) -> author(id)
    copy(book_id) -> book(id)
    loan(copy_id) -> copy(id)
    loan(member_id) -> member(id)
    """),
)

AIRLINE = Domain(
    """
    CREATE TABLE Airport AS SELECT chr((65 + i // 26)::INTEGER) || chr((65 + i % 26)::INTEGER) ||
        'X' AS AirportCode, 'Airport ' || i AS AirportName, pick(i, 1, 40)::DOUBLE AS Latitude
        FROM range(140) t(i);
    CREATE TABLE AircraftType AS SELECT ['A320', 'B738', 'E190', 'A388', 'AT76'][1 + i] AS
        AircraftTypeCode, 100 + i * 40 AS Seats FROM range(5) t(i);
    CREATE TABLE Aircraft AS SELECT 'D-A' || chr((65 + i // 26)::INTEGER) || chr((65 + i %
        26)::INTEGER) AS Registration, ['A320', 'B738', 'E190', 'A388', 'AT76'][1 + pick(i, 2, 5)]
        AS AircraftTypeCode, DATE '2000-01-01' + pick(i, 3, 8000) AS BuiltOn FROM range(60) t(i);
    CREATE TABLE Flight AS SELECT 5000 + i * 3 AS FlightID, 'FX' || (100 + pick(i, 4, 800)) AS
        FlightNumber, a AS OriginAirportCode, b AS DestinationAirportCode, 'D-A' ||
        chr((65 + pick(i, 5, 60) // 26)::INTEGER) || chr((65 + pick(i, 5, 60) % 26)::INTEGER)
        AS Registration, TIMESTAMP '2024-05-01 00:00:00' + INTERVAL (i * 11) MINUTE AS DepartsAt
        FROM (SELECT i, chr((65 + pick(i, 6, 140) // 26)::INTEGER) || chr((65 + pick(i, 6, 140) %
        26)::INTEGER) || 'X' AS a, chr((65 + pick(i, 7, 140) // 26)::INTEGER) || chr((65 +
        pick(i, 7, 140) % 26)::INTEGER) || 'X' AS b FROM range(2000) t(i));
    CREATE TABLE Booking AS SELECT 'B' || substr(md5(i::VARCHAR), 1, 7) AS Locator,
        5000 + pick(i, 8, 2000) * 3 AS FlightID, 1 + pick(i, 9, 4) AS Passengers,
        (50 + pick(i, 10, 900))::DECIMAL(9, 2) AS Fare FROM range(3500) t(i);
    """,
    _meant("""
    Aircraft(AircraftTypeCode) -> AircraftType(AircraftTypeCode)
    Flight(OriginAirportCode) -> Airport(AirportCode)
    Flight(DestinationAirportCode) -> Airport(AirportCode)
    Flight(Registration) -> Aircraft(Registration)
    Booking(FlightID) -> Flight(FlightID)
    """),
)

SCHOOL = Domain(
    """
    CREATE TABLE departments AS SELECT 1 + i AS id, 'Dept ' || i AS name FROM range(8) t(i);
    CREATE TABLE teachers AS SELECT 1 + i AS id, 'T ' || i AS name, 1 + pick(i, 1, 8) AS
        department_id, if(i < 4, NULL, 1 + pick(i, 2, 4)) AS mentor_id FROM range(40) t(i);
    CREATE TABLE courses AS SELECT 1 + i AS id, 'C' || (100 + i) AS code, 1 + pick(i, 3, 8) AS
        department_id, 1 + pick(i, 4, 40) AS teacher_id, 1 + pick(i, 5, 6) AS credits
        FROM range(110) t(i);
    CREATE TABLE students AS SELECT 1 + i AS id, 'S ' || i AS name, DATE '2000-01-01' + pick(i, 6,
        2500) AS birth_date FROM range(700) t(i);
    CREATE TABLE enrollments AS SELECT DISTINCT ON (student_id, course_id) * FROM (SELECT
        1 + pick(i, 7, 700) AS student_id, 1 + pick(i, 8, 110) AS course_id, 1 + pick(i, 9, 6) AS
        grade FROM range(4000) t(i)) ORDER BY 1, 2;
    """,
    _meant("""
    teachers(department_id) -> departments(id)
    teachers(mentor_id) -> teachers(id)
    courses(department_id) -> departments(id)
    courses(teacher_id) -> teachers(id)
    enrollments(student_id) -> students(id)
    enrollments(course_id) -> courses(id)
    """),
)

LOGISTICS = Domain(
    """
    CREATE TABLE address AS SELECT 40000 + i * 2 AS address_id, 'Street ' || i AS street,
        ['DE', 'FR', 'IT', 'ES', 'PL'][1 + pick(i, 1, 5)] AS country_code FROM range(900) t(i);
    CREATE TABLE country AS SELECT ['DE', 'FR', 'IT', 'ES', 'PL', 'AT', 'CH'][1 + i] AS
        country_code, 'Country ' || i AS name FROM range(7) t(i);
    CREATE TABLE carrier AS SELECT 1 + i AS carrier_id, 'Carrier ' || i AS name FROM range(9) t(i);
    CREATE TABLE warehouse AS SELECT 1 + i AS warehouse_id, 40000 + pick(i, 2, 900) * 2 AS
        address_id FROM range(12) t(i);
    CREATE TABLE shipment AS SELECT 700000 + i AS shipment_id, 1 + pick(i, 3, 12) AS warehouse_id,
        40000 + pick(i, 4, 900) * 2 AS ship_to_address_id,
        40000 + pick(i, 5, 900) * 2 AS bill_to_address_id, 1 + pick(i, 6, 9) AS carrier_id,
        1 + pick(i, 7, 300) AS weight_kg FROM range(5000) t(i);
    CREATE TABLE shipment_line AS SELECT 700000 + i // 3 AS shipment_id, 1 + i % 3 AS line_no,
        'P-' || (1000 + pick(i, 8, 250) * 7) AS product_code, 1 + pick(i, 9, 9) AS quantity
        FROM range(9000) t(i);
    CREATE TABLE product AS SELECT 'P-' || (1000 + i * 7) AS product_code, 'Thing ' || i AS name,
        (5 + pick(i, 10, 90))::DECIMAL(9, 2) AS price FROM range(250) t(i);
    """,
    _meant("""
    address(country_code) -> country(country_code)
    warehouse(address_id) -> address(address_id)
    shipment(warehouse_id) -> warehouse(warehouse_id)
    shipment(ship_to_address_id) -> address(address_id)
    shipment(bill_to_address_id) -> address(address_id)
    shipment(carrier_id) -> carrier(carrier_id)
    shipment_line(shipment_id) -> shipment(shipment_id)
    shipment_line(product_code) -> product(product_code)
    """),
)

DOMAINS = {
    "clinic": CLINIC,
    "library": LIBRARY,
    "airline": AIRLINE,
    "school": SCHOOL,
    "logistics": LOGISTICS,
}
