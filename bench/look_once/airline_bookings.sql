-- After the demo database "bookings" of Postgres Professional (airports, aircrafts, flights, tickets).
create table airports (airport_code varchar primary key, airport_name varchar not null, city varchar not null, longitude double, latitude double, timezone varchar);
insert into airports select (['SVO', 'DME', 'LED', 'KZN', 'AER', 'OVB', 'SVX', 'VVO', 'KHV', 'UFA', 'ROV', 'KRR', 'MRV', 'CEK', 'TJM', 'IKT', 'OMS', 'PEE', 'KUF', 'GOJ', 'MMK', 'ARH'])[i],
    name(i + 300, 'last') || ' Airport', (['Moscow', 'Moscow', 'St. Petersburg', 'Kazan', 'Sochi', 'Novosibirsk', 'Yekaterinburg', 'Vladivostok', 'Khabarovsk', 'Ufa', 'Rostov', 'Krasnodar', 'Mineralnye Vody', 'Chelyabinsk', 'Tyumen', 'Irkutsk', 'Omsk', 'Perm', 'Samara', 'Nizhny Novgorod', 'Murmansk', 'Arkhangelsk'])[i],
    30 + pick(i, 'lon', 100000) / 1000, 43 + pick(i, 'lat', 25000) / 1000, (['Europe/Moscow', 'Europe/Samara', 'Asia/Yekaterinburg', 'Asia/Novosibirsk'])[1 + pick(i, 'tz', 4)] from range(1, 23) t(i);
create table aircrafts (aircraft_code varchar primary key, model varchar not null, range integer not null check (range > 0));
insert into aircrafts values ('773', 'Boeing 777-300', 11100), ('763', 'Boeing 767-300', 7900), ('SU9', 'Sukhoi Superjet-100', 3000), ('320', 'Airbus A320-200', 5700),
    ('321', 'Airbus A321-200', 5600), ('319', 'Airbus A319-100', 6700), ('733', 'Boeing 737-300', 4200), ('CN1', 'Cessna 208 Caravan', 1200), ('CR2', 'Bombardier CRJ-200', 2700);
create table seats (aircraft_code varchar references aircrafts, seat_no varchar, fare_conditions varchar not null, primary key (aircraft_code, seat_no));
insert into seats select aircraft_code, r || l, if(r <= 4, 'Business', if(r <= 6 and aircraft_code = '773', 'Comfort', 'Economy'))
    from aircrafts, range(1, 21) rows(r), (select unnest(['A', 'B', 'C', 'D', 'E', 'F']) as l) letters where aircraft_code <> 'CN1' or r <= 3;
create table bookings (book_ref varchar primary key, book_date timestamp not null, total_amount decimal(10, 2) not null);
create table tickets (ticket_no varchar primary key, book_ref varchar not null references bookings, passenger_id varchar not null, passenger_name varchar not null, phone varchar, email varchar);
create table flights (flight_id integer primary key, flight_no varchar not null, scheduled_departure timestamp not null, scheduled_arrival timestamp not null,
    departure_airport varchar not null references airports, arrival_airport varchar not null references airports, status varchar not null,
    aircraft_code varchar not null references aircrafts, actual_departure timestamp, actual_arrival timestamp, unique (flight_no, scheduled_departure));
insert into flights select i, 'PG0' || lpad((r + 100)::varchar, 3, '0'), dep, dep + to_minutes(60 + pick(r, 'dur', 300)), a.airport_code, b.airport_code,
    if(i <= 850, if(pick(i, 'can', 40) = 0, 'Cancelled', 'Arrived'), if(i < 900, 'On Time', 'Scheduled')), c.aircraft_code,
    if(i <= 850 and pick(i, 'can', 40) > 0, dep + to_minutes(pick(i, 'late', 30)), null), if(i <= 850 and pick(i, 'can', 40) > 0, dep + to_minutes(70 + pick(r, 'dur', 300) + pick(i, 'late', 30)), null)
    from (select i, i % 40 as r, timestamp '2024-05-01 05:00:00' + to_days(i // 40) + to_minutes(25 * (i % 40)) as dep from range(1, 1001) t(i)) f
    join (select airport_code, row_number() over (order by airport_code) - 1 as n from airports) a on a.n = pick(r, 'from', 22)
    join (select airport_code, row_number() over (order by airport_code) - 1 as n from airports) b on b.n = (pick(r, 'from', 22) + 1 + pick(r, 'to', 21)) % 22
    join (select aircraft_code, row_number() over (order by aircraft_code) - 1 as n from aircrafts) c on c.n = pick(r, 'craft', 9);
create temp table booked as select i, lpad(upper(to_hex(i * 6151 + 200000)), 6, '0') as ref, timestamp '2024-04-01 08:00:00' + to_minutes(i * 28 + pick(i, 'bm', 25)) as booked_at from range(1, 1201) t(i);
insert into bookings select ref, booked_at, 0 from booked;
insert into tickets select '0005432' || lpad((row_number() over (order by i, n))::varchar, 6, '0'), ref, lpad(pick(who, 'p4', 9999)::varchar, 4, '0') || ' ' || lpad((who * 811 % 1000000)::varchar, 6, '0'),
    upper(name(who, 'first') || ' ' || name(who, 'last')), '+7' || (9000000000 + who * 7919), if(pick(i, 'em', 3) > 0, lower(name(who, 'first')) || who || '@example.com', null)
    from (select *, 1 + pick(i * 4 + n, 'who', 1500) as who from booked, range(0, 3) t(n) where n <= pick(i, 'party', 3));
create table ticket_flights (ticket_no varchar references tickets, flight_id integer references flights, fare_conditions varchar not null, amount decimal(10, 2) not null check (amount >= 0), primary key (ticket_no, flight_id));
insert into ticket_flights select distinct on (ticket_no, flight_id) ticket_no, flight_id, fare, (if(fare = 'Business', 3, 1) * (3000 + 100 * pick(flight_id % 40, 'fare', 90)))::decimal(10, 2)
    from (select ticket_no, 1 + pick(substr(ticket_no, 8)::integer * 3 + leg, 'fl', 1000) as flight_id, (['Economy', 'Economy', 'Economy', 'Business'])[1 + pick(substr(ticket_no, 8)::integer, 'fc', 4)] as fare
          from tickets, range(0, 2) t(leg)) order by ticket_no, flight_id, fare;
update bookings set total_amount = t.total from (select book_ref, sum(amount) as total from tickets join ticket_flights using (ticket_no) group by all) t where t.book_ref = bookings.book_ref;
create table boarding_passes (ticket_no varchar, flight_id integer, boarding_no integer not null, seat_no varchar not null, primary key (ticket_no, flight_id), foreign key (ticket_no, flight_id) references ticket_flights (ticket_no, flight_id));
insert into boarding_passes select ticket_no, flight_id, row_number() over (partition by flight_id order by ticket_no),
    (1 + (row_number() over (partition by flight_id order by ticket_no) - 1) // 6) || (['A', 'B', 'C', 'D', 'E', 'F'])[1 + (row_number() over (partition by flight_id order by ticket_no) - 1) % 6]
    from ticket_flights join flights using (flight_id) where status = 'Arrived';
