-- After the university schema of Silberschatz, Korth & Sudarshan, Database System Concepts, with terms and grades.
create table department (dept_name varchar primary key, building varchar, budget decimal(12, 2));
insert into department select (['Biology', 'Comp. Sci.', 'Elec. Eng.', 'Finance', 'History', 'Music', 'Physics', 'Math', 'Statistics', 'Languages', 'Geology', 'Psychology'])[i],
    (['Watson', 'Taylor', 'Painter', 'Packard'])[1 + pick(i, 'bld', 4)], 50000 + 1000 * pick(i, 'bud', 90) from range(1, 13) t(i);
create table classroom (building varchar, room_number varchar, capacity integer, primary key (building, room_number));
insert into classroom select b, (100 * f + n)::varchar, 10 + 5 * pick(f * 10 + n, b, 30) from (select unnest(['Watson', 'Taylor', 'Painter', 'Packard', 'Saucon']) as b), range(1, 4) t(f), range(1, 5) u(n);
create table course (course_id varchar primary key, title varchar, dept_name varchar, credits integer);
insert into course select (['BIO', 'CS', 'EE', 'FIN', 'HIS', 'MU', 'PHY', 'MA', 'STA', 'LAN', 'GEO', 'PSY'])[1 + i % 12] || '-' || (100 + i), (['Introduction to', 'Topics in', 'Advanced', 'Seminar on', 'Methods of'])[1 + pick(i, 'ct', 5)] || ' ' ||
    (['Genetics', 'Databases', 'Circuits', 'Banking', 'Rome', 'Harmony', 'Optics', 'Algebra', 'Inference', 'Grammar', 'Rocks', 'Memory'])[1 + i % 12] || ' ' || (1 + i // 12),
    (['Biology', 'Comp. Sci.', 'Elec. Eng.', 'Finance', 'History', 'Music', 'Physics', 'Math', 'Statistics', 'Languages', 'Geology', 'Psychology'])[1 + i % 12], 2 + pick(i, 'cr', 3) from range(0, 96) t(i);
create table prereq (course_id varchar, prereq_id varchar, primary key (course_id, prereq_id));
insert into prereq select a.course_id, b.course_id from course a join course b on substr(a.course_id, 1, 2) = substr(b.course_id, 1, 2) and right(b.course_id, 3)::integer < right(a.course_id, 3)::integer
    where pick(right(a.course_id, 3)::integer * 1000 + right(b.course_id, 3)::integer, 'pre', 5) = 0;
create table instructor (id varchar primary key, name varchar not null, dept_name varchar, salary decimal(8, 2));
insert into instructor select (10000 + i * 131)::varchar, name(i, 'last'), (['Biology', 'Comp. Sci.', 'Elec. Eng.', 'Finance', 'History', 'Music', 'Physics', 'Math', 'Statistics', 'Languages', 'Geology', 'Psychology'])[1 + i % 12], 40000 + 500 * pick(i, 'sal', 120) from range(1, 61) t(i);
create table student (id varchar primary key, name varchar not null, dept_name varchar, tot_cred integer);
create table term (semester varchar, year integer, starts_on date, ends_on date, primary key (semester, year));
insert into term select s, y, make_date(y, if(s = 'Spring', 1, 9), 15), make_date(y, if(s = 'Spring', 5, 12), 20) from (select unnest(['Spring', 'Fall']) as s), range(2020, 2025) t(y);
create table time_slot (time_slot_id varchar, day varchar, start_hr smallint, start_min smallint, end_hr smallint, end_min smallint, primary key (time_slot_id, day, start_hr, start_min));
insert into time_slot select s, d, 8 + n, 0, 8 + n, 50 from (select unnest(['A', 'B', 'C', 'D', 'E', 'F', 'G', 'H']) as s, unnest(range(0, 8)) as n), (select unnest(['M', 'W', 'F']) as d);
create table section (course_id varchar, sec_id varchar, semester varchar, year integer, building varchar, room_number varchar, time_slot_id varchar, primary key (course_id, sec_id, semester, year));
insert into section select course_id, (1 + n)::varchar, semester, year, r.building, r.room_number, (['A', 'B', 'C', 'D', 'E', 'F', 'G', 'H'])[1 + pick(k, 'slot', 8)]
    from (select *, right(course_id, 3)::integer * 100 + year * 3 + n + if(semester = 'Fall', 1, 0) as k from course, term, range(0, 2) t(n) where n = 0 or pick(right(course_id, 3)::integer, 'two', 3) = 0)
    join (select *, row_number() over (order by building, room_number) - 1 as n2 from classroom) r on n2 = pick(k, 'room', 60) where pick(k, 'given', 3) = 0;
create table teaches (id varchar, course_id varchar, sec_id varchar, semester varchar, year integer, primary key (id, course_id, sec_id, semester, year));
insert into teaches select (10000 + (1 + pick(right(course_id, 3)::integer * 77 + year + sec_id::integer + ascii(semester), 'teach', 60)) * 131)::varchar, course_id, sec_id, semester, year from section;
insert into student select (20000 + i * 17)::varchar, name(i + 900, 'last') || ' ' || name(i + 900, 'first'), (['Biology', 'Comp. Sci.', 'Elec. Eng.', 'Finance', 'History', 'Music', 'Physics', 'Math', 'Statistics', 'Languages', 'Geology', 'Psychology'])[1 + pick(i, 'maj', 12)], pick(i, 'cred', 130) from range(1, 501) t(i);
create table takes (id varchar, course_id varchar, sec_id varchar, semester varchar, year integer, grade varchar, primary key (id, course_id, sec_id, semester, year));
insert into takes select (20000 + i * 17)::varchar, course_id, sec_id, semester, year, if(year = 2024 and semester = 'Fall', null, (['A', 'A-', 'B+', 'B', 'B-', 'C+', 'C', 'D', 'F'])[1 + pick(i * 31 + k, 'grade', 9)])
    from range(1, 501) t(i), (select *, row_number() over (order by course_id, sec_id, semester, year) as k from section) where pick(i * 1009 + k, 'takes', 22) = 0;
create table advisor (s_id varchar primary key, i_id varchar);
insert into advisor select (20000 + i * 17)::varchar, (10000 + (1 + pick(i, 'adv', 60)) * 131)::varchar from range(1, 501) t(i) where pick(i, 'hasadv', 8) > 0;
