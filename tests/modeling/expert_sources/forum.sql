-- Posts with votes, badges, tags and comments.

CREATE TABLE users AS
SELECT
  i AS id,
  'user' || i AS display_name,
  TIMESTAMP '2015-01-01' + INTERVAL (i * 131) MINUTE AS creation_date,
  ((i * 7919 % 1000 / 1000) * 5000)::INT AS reputation,
  CASE WHEN i % 3 = 0 THEN 'Berlin' WHEN i % 3 = 1 THEN 'Paris' END AS location
FROM range(1, 501) t(i);

CREATE TABLE posts AS
SELECT
  i AS id,
  1 + (i % 2) AS post_type_id,
  CASE WHEN i % 2 = 1 THEN i-1 END AS parent_id,
  1 + (i * 31) % 500 AS owner_user_id,
  TIMESTAMP '2016-01-01' + INTERVAL (i * 57) MINUTE AS creation_date,
  ((i * 7919 % 1000 / 1000) * 50)::INT AS score,
  'Title ' || i AS title,
  repeat('text ', 10) || i AS body
FROM range(2, 3002) t(i);

CREATE TABLE post_types AS
SELECT *
FROM (VALUES (1, 'Question'), (2, 'Answer')) v(id, name);

CREATE TABLE votes AS
SELECT
  i AS id,
  2 + (i * 11) % 3000 AS post_id,
  1 + (i % 4) AS vote_type_id,
  DATE '2016-01-01' + (i % 900)::INT AS creation_date
FROM range(1, 8001) t(i);

CREATE TABLE vote_types AS
SELECT *
FROM (VALUES (1, 'Up'), (2, 'Down'), (3, 'Favorite'), (4, 'Spam')) v(id, name);

CREATE TABLE badges AS
SELECT
  i AS id,
  1 + (i * 17) % 500 AS user_id,
  ['Teacher', 'Student', 'Editor', 'Critic'][1 + i % 4] AS name,
  TIMESTAMP '2016-01-01' + INTERVAL (i * 77) MINUTE AS date
FROM range(1, 2001) t(i);

CREATE TABLE tags AS
SELECT
  i AS id,
  'tag-' || i AS tag_name,
  ((i * 7919 % 1000 / 1000) * 100)::INT AS count
FROM range(1, 101) t(i);

CREATE TABLE post_tags AS
SELECT DISTINCT
  2 + (i * 7) % 3000 AS post_id,
  1 + (i * 13) % 100 AS tag_id
FROM range(1, 6001) t(i);

CREATE TABLE comments AS
SELECT
  i AS id,
  2 + (i * 19) % 3000 AS post_id,
  1 + (i * 23) % 500 AS user_id,
  TIMESTAMP '2016-02-01' + INTERVAL (i * 37) MINUTE AS creation_date,
  ((i * 7919 % 1000 / 1000) * 5)::INT AS score,
  'comment ' || i AS text
FROM range(1, 5001) t(i);
