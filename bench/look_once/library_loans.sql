-- After Koha's published schema (borrowers, biblio, items, issues, reserves, accountlines).
create table branches (branchcode varchar primary key, branchname varchar not null, branchcity varchar, branchphone varchar);
insert into branches values ('CPL', 'Centerville', 'Centerville', '555-0101'), ('FFL', 'Fairfield', 'Fairfield', '555-0102'),
    ('FPL', 'Fairview', 'Fairview', '555-0103'), ('MPL', 'Midway', 'Midway', '555-0104'), ('TPL', 'Troy', 'Troy', null);
create table categories (categorycode varchar primary key, description varchar not null, enrolmentperiod integer, upperagelimit integer);
insert into categories values ('AD', 'Adult', 12, 999), ('CH', 'Child', 24, 12), ('ST', 'Student', 12, 28), ('SN', 'Senior', 36, 999), ('STF', 'Staff', 99, 999);
create table itemtypes (itemtype varchar primary key, description varchar not null, rentalcharge decimal(8, 2), notforloan boolean);
insert into itemtypes values ('BK', 'Books', 0, false), ('CF', 'Computer files', 1, false), ('CR', 'Continuing resources', 0, true),
    ('MU', 'Music', 0.5, false), ('VM', 'Visual materials', 1.5, false), ('REF', 'Reference', 0, true);

create table borrowers (borrowernumber integer primary key, cardnumber varchar unique, surname varchar not null, firstname varchar,
    dateofbirth date, email varchar, branchcode varchar not null references branches, categorycode varchar not null references categories,
    dateenrolled date, dateexpiry date, debarred date);
insert into borrowers select i, '2352900' || lpad((i * 37 + 1000)::varchar, 7, '0'), name(i, 'last'), name(i, 'first'),
    date '1945-01-01' + pick(i, 'born', 25000), case when pick(i, 'mail', 10) < 8 then lower(name(i, 'first')) || i || '@example.org' end,
    (['CPL', 'FFL', 'FPL', 'MPL', 'TPL'])[1 + pick(i, 'br', 5)], (['AD', 'AD', 'CH', 'ST', 'SN', 'STF'])[1 + pick(i, 'cat', 6)],
    date '2019-01-01' + pick(i, 'enr', 1500), date '2024-01-01' + pick(i, 'exp', 900),
    case when pick(i, 'deb', 40) = 0 then date '2024-06-01' + pick(i, 'debd', 100) end from range(1, 401) t(i);

create table biblio (biblionumber integer primary key, title varchar not null, author varchar, copyrightdate smallint, isbn varchar, itemtype varchar references itemtypes, abstract varchar);
insert into biblio select i, (['A History of', 'Notes on', 'The Book of', 'Essays on', 'Letters from', 'Stories of'])[1 + pick(i, 't1', 6)] || ' ' ||
    (['Rivers', 'Gardens', 'Winter', 'Cities', 'Maps', 'Bridges', 'Stars', 'Clocks', 'Islands', 'Trains'])[1 + pick(i, 't2', 10)],
    case when pick(i, 'au', 12) > 0 then name(pick(i, 'auth', 150) + 5000, 'last') || ', ' || name(pick(i, 'auth', 150) + 5000, 'first') end,
    1950 + pick(i, 'cy', 74), case when pick(i, 'is', 9) > 0 then '9780' || lpad((i * 7919 + 100000)::varchar, 9, '0') end,
    (['BK', 'BK', 'BK', 'MU', 'VM', 'CF', 'REF'])[1 + pick(i, 'it', 7)],
    'On ' || (['rivers', 'gardens', 'winter'])[1 + pick(i, 'ab', 3)] || ' and what people made of them, number ' || i from range(1, 601) t(i);

create table items (itemnumber integer primary key, biblionumber integer not null references biblio, barcode varchar unique, dateaccessioned date,
    homebranch varchar references branches, holdingbranch varchar references branches, price decimal(8, 2), replacementprice decimal(8, 2),
    itemcallnumber varchar, issues integer, withdrawn boolean);
insert into items select i, 1 + pick(i, 'bib', 600), '39999' || lpad((i * 13)::varchar, 9, '0'), date '2015-01-01' + pick(i, 'acc', 3200),
    (['CPL', 'FFL', 'FPL', 'MPL', 'TPL'])[1 + pick(i, 'hb', 5)], (['CPL', 'FFL', 'FPL', 'MPL', 'TPL'])[1 + pick(i, if(pick(i, 'mv', 8) = 0, 'hb2', 'hb'), 5)],
    5 + pick(i, 'pr', 4000) / 100, 8 + pick(i, 'rp', 5000) / 100, lpad(pick(i, 'dew', 1000)::varchar, 3, '0') || '.' || pick(i, 'cut', 99),
    pick(i, 'iss', 60), pick(i, 'wd', 50) = 0 from range(1, 1501) t(i);

create table issues (issue_id integer primary key, borrowernumber integer references borrowers, itemnumber integer references items,
    branchcode varchar references branches, issuedate timestamp not null, date_due timestamp not null, returndate timestamp, renewals_count smallint, auto_renew boolean);
insert into issues select i, 1 + pick(i, 'who', 400), 1 + pick(i, 'what', 1500), (['CPL', 'FFL', 'FPL', 'MPL', 'TPL'])[1 + pick(i, 'ib', 5)], moment, moment + interval 21 day,
    case when pick(i, 'open', 12) > 0 then moment + to_hours(24 + pick(i, 'len', 900)) end, pick(i, 'ren', 4), pick(i, 'auto', 3) = 0
    from (select i, timestamp '2023-01-02 09:00:00' + to_minutes(i * 125 + pick(i, 'min', 120)) as moment from range(1, 5001) t(i));

create table reserves (reserve_id integer primary key, borrowernumber integer not null references borrowers, biblionumber integer not null references biblio,
    itemnumber integer references items, branchcode varchar references branches, reservedate date not null, waitingdate date, cancellationdate date, expirationdate date, priority smallint);
insert into reserves select i, 1 + pick(i, 'rb', 400), 1 + pick(i, 'rbib', 600), case when pick(i, 'ri', 3) = 0 then 1 + pick(i, 'rit', 1500) end,
    (['CPL', 'FFL', 'FPL', 'MPL', 'TPL'])[1 + pick(i, 'rbr', 5)], d, case when pick(i, 'w', 3) > 0 then d + (1 + pick(i, 'wd', 30)) end,
    case when pick(i, 'c', 8) = 0 then d + (1 + pick(i, 'cd', 40)) end, d + 90, pick(i, 'prio', 6)
    from (select i, date '2023-01-02' + (i * 365 // 600)::integer as d from range(1, 1201) t(i));

create table accountlines (accountlines_id integer primary key, borrowernumber integer references borrowers, itemnumber integer references items,
    issue_id integer references issues, debit_type_code varchar not null, date date not null, amount decimal(10, 2) not null, amountoutstanding decimal(10, 2) not null, note varchar);
insert into accountlines select i, 1 + pick(pick(i, 'ai', 5000) + 1, 'who', 400), 1 + pick(pick(i, 'ai', 5000) + 1, 'what', 1500), pick(i, 'ai', 5000) + 1, kind,
    date '2023-02-01' + (i * 600 // 1500)::integer, amount, if(pick(i, 'paid', 4) > 0, 0, amount), if(kind = 'LOST', 'Lost item', null)
    from (select i, (['OVERDUE', 'OVERDUE', 'OVERDUE', 'LOST', 'RENT'])[1 + pick(i, 'k', 5)] as kind, (25 + pick(i, 'am', 2000)) / 100 as amount from range(1, 1501) t(i));
