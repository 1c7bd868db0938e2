"""Dumps as the tools of the databases write them: the dialect they're read as, and what's read."""

import sqlite3
import subprocess
from pathlib import Path

import pytest

from fluid_build.sources import open_source
from fluid_build.sources.base import Source, Table
from fluid_build.sources.sql_text.ddl import open_ddl
from tests.postgres import PostgresDatabase

MYSQLDUMP = r"""-- MySQL dump 10.13  Distrib 8.0.36, for Linux (x86_64)
--
-- Host: localhost    Database: shop
/*!40101 SET @OLD_CHARACTER_SET_CLIENT=@@CHARACTER_SET_CLIENT */;
/*!50503 SET NAMES utf8mb4 */;

DROP TABLE IF EXISTS `invoice`;
/*!40101 SET @saved_cs_client     = @@character_set_client */;
CREATE TABLE `invoice` (
  `id` bigint unsigned NOT NULL AUTO_INCREMENT,
  `title` nvarchar(160) COLLATE utf8mb4_bin DEFAULT NULL COMMENT 'what\'s on it',
  `net` decimal(10,2) NOT NULL DEFAULT '0.00',
  `gross` decimal(10,2) GENERATED ALWAYS AS ((`net` * 1.2)) STORED,
  `data` json DEFAULT (json_object()),
  `seen` timestamp NULL DEFAULT CURRENT_TIMESTAMP ON UPDATE CURRENT_TIMESTAMP,
  `hidden` tinyint(1) DEFAULT NULL /*!80023 INVISIBLE */,
  PRIMARY KEY (`id`),
  UNIQUE KEY `by_title` (`title`(20)),
  KEY `functional` ((lower(`title`))),
  FULLTEXT KEY `words` (`title`),
  CONSTRAINT `sane` CHECK ((`net` >= 0))
) ENGINE=InnoDB AUTO_INCREMENT=4 DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_0900_ai_ci
/*!50100 PARTITION BY RANGE (`id`)
(PARTITION p0 VALUES LESS THAN (10) ENGINE = InnoDB,
 PARTITION p1 VALUES LESS THAN MAXVALUE ENGINE = InnoDB) */;
LOCK TABLES `invoice` WRITE;
INSERT INTO `invoice` VALUES (1,'it\'s; CREATE TABLE never (id int);',1.00,'{}');
UNLOCK TABLES;
/*!50001 CREATE VIEW `v` AS SELECT 1 AS `id`*/;
DELIMITER ;;
/*!50003 CREATE*/ /*!50017 DEFINER=`root`@`%`*/ /*!50003 PROCEDURE `p`()
BEGIN
  CREATE TEMPORARY TABLE scratch (id int);
END */;;
DELIMITER ;
-- Dump completed on 2024-01-01
"""

SSMS = """USE [shop]
GO
/****** Object:  Table [dbo].[invoice]    Script Date: 1/1/2024 10:00:00 AM ******/
SET ANSI_NULLS ON
GO
SET QUOTED_IDENTIFIER ON
GO
CREATE TABLE [dbo].[invoice](
  [id] [bigint] IDENTITY(1,1) NOT NULL,
  [title] [nvarchar](160) NULL,
  [net] [decimal](10, 2) NOT NULL,
  [gross]  AS (isnull([net]*(1.2),(0))) PERSISTED NOT NULL,
  [rowguid] [uniqueidentifier] ROWGUIDCOL  NOT NULL UNIQUE
    CONSTRAINT [DF_guid]  DEFAULT (newid()),
  [valid_from] [datetime2](7) GENERATED ALWAYS AS ROW START NOT NULL,
  [valid_to] [datetime2](7) GENERATED ALWAYS AS ROW END NOT NULL,
 CONSTRAINT [PK_invoice] PRIMARY KEY CLUSTERED
(
  [id] ASC
)WITH (STATISTICS_NORECOMPUTE = OFF, OPTIMIZE_FOR_SEQUENTIAL_KEY = OFF) ON [PRIMARY],
  PERIOD FOR SYSTEM_TIME ([valid_from], [valid_to])
) ON [PRIMARY]
WITH (SYSTEM_VERSIONING = ON (HISTORY_TABLE = [dbo].[invoice_history]))
GO
SET ANSI_PADDING ON
GO
/****** Object:  Index [by_title]    Script Date: 1/1/2024 10:00:00 AM ******/
CREATE UNIQUE NONCLUSTERED INDEX [by_title] ON [dbo].[invoice]
(
  [title] ASC
)WITH (PAD_INDEX = OFF, SORT_IN_TEMPDB = OFF) ON [PRIMARY]
GO
EXEC sys.sp_addextendedproperty @name=N'MS_Description', @value=N'what''s on it' ,
  @level0type=N'SCHEMA',@level0name=N'dbo', @level1type=N'TABLE',@level1name=N'invoice',
  @level2type=N'COLUMN',@level2name=N'title'
GO
"""

SQL_DEVELOPER = """--------------------------------------------------------
--  File created - Monday-January-01-2024
--------------------------------------------------------
--------------------------------------------------------
--  DDL for Table INVOICE
--------------------------------------------------------

  CREATE TABLE "SHOP"."INVOICE"
   (	"ID" NUMBER(12,0) GENERATED ALWAYS AS IDENTITY MINVALUE 1 MAXVALUE 9999 INCREMENT BY 1,
	"TITLE" VARCHAR2(160 BYTE) COLLATE "USING_NLS_COMP",
	"NET" NUMBER(10,2) DEFAULT ON NULL 0,
	"GROSS" NUMBER GENERATED ALWAYS AS ("NET"*1.2) VIRTUAL ,
	"SEEN" TIMESTAMP (6) DEFAULT systimestamp
   ) SEGMENT CREATION IMMEDIATE
  PCTFREE 10 PCTUSED 40 INITRANS 1 MAXTRANS 255
 NOCOMPRESS LOGGING
  STORAGE(INITIAL 65536 NEXT 1048576 MINEXTENTS 1 MAXEXTENTS 2147483645
  BUFFER_POOL DEFAULT FLASH_CACHE DEFAULT CELL_FLASH_CACHE DEFAULT)
  TABLESPACE "USERS"
  PARTITION BY RANGE ("SEEN") INTERVAL (NUMTODSINTERVAL(1, 'DAY'))
 (PARTITION "P0"  VALUES LESS THAN (TIMESTAMP' 2020-01-01 00:00:00') SEGMENT CREATION DEFERRED );

   COMMENT ON COLUMN "SHOP"."INVOICE"."TITLE" IS 'what''s on it';
--------------------------------------------------------
--  Constraints for Table INVOICE
--------------------------------------------------------

  ALTER TABLE "SHOP"."INVOICE" MODIFY ("NET" NOT NULL ENABLE);
  ALTER TABLE "SHOP"."INVOICE" ADD CONSTRAINT "INVOICE_PK" PRIMARY KEY ("ID")
  USING INDEX PCTFREE 10 INITRANS 2 MAXTRANS 255 STORAGE(INITIAL 65536)
  TABLESPACE "USERS"  ENABLE;
  ALTER TABLE "SHOP"."INVOICE" ADD CONSTRAINT "BY_TITLE" UNIQUE ("TITLE") ENABLE;
"""

DB2LOOK = """-- This CLP file was created using DB2LOOK Version "11.5"
-- Timestamp: Mon Jan  1 10:00:00 UTC 2024
CONNECT TO SHOP;

CREATE TABLE "SHOP    "."INVOICE"  (
      "ID" BIGINT NOT NULL GENERATED BY DEFAULT AS IDENTITY (
        START WITH +1
        INCREMENT BY +1
        NO CYCLE
        CACHE 20
        NO ORDER ) ,
      "TITLE" VARCHAR(160 OCTETS) ,
      "NET" DECIMAL(10,2) NOT NULL WITH DEFAULT 0 ,
      "DUE" DATE ,
      "NUMBER" INTEGER ,
      "HASH" CHAR(16) FOR BIT DATA ,
      "BODY" CLOB(1048576) LOGGED NOT COMPACT )
     IN "USERSPACE1"
     ORGANIZE BY ROW;

COMMENT ON COLUMN "SHOP    "."INVOICE"."TITLE" IS 'what''s on it';

ALTER TABLE "SHOP    "."INVOICE"
  ADD CONSTRAINT "INVOICE_PK" PRIMARY KEY
    ("ID")
  ENFORCED;
ALTER TABLE "SHOP    "."INVOICE" ADD CONSTRAINT "BY_TITLE" UNIQUE ("TITLE") ENFORCED;
COMMIT WORK;
CONNECT RESET;
TERMINATE;
"""

DUMPS = {"mysql": MYSQLDUMP, "tsql": SSMS, "oracle": SQL_DEVELOPER, "db2": DB2LOOK}
TITLES = {"mysql": "MySQL", "tsql": "T-SQL", "oracle": "Oracle", "db2": "Db2"}


def read(folder: Path, text: str) -> Source:
    path = folder / "dump.sql"
    path.write_text(text, encoding="utf-8")
    return open_ddl(path)


@pytest.mark.parametrize("dialect", sorted(DUMPS))
def test_a_tools_dump_is_read_whole(tmp_path: Path, dialect: str) -> None:
    """The dialect is recognized, and the table comes with its keys and its comment."""
    with read(tmp_path, DUMPS[dialect]) as source:
        (table,) = source.tables
        assert source.notes[0].startswith(f"Read as {TITLES[dialect]} ")
        assert (table.name.lower(), table.notes, source.skipped) == ("invoice", (), ())
        assert [column.lower() for column in table.primary_key] == ["id"]
        assert ("title",) in [tuple(name.lower() for name in key) for key in table.unique_keys]
        columns = {column.name.lower(): column for column in table.columns}
        assert columns["title"].comment == "what's on it"
        nullable = [name for name in ("id", "title", "net") if columns[name].nullable]
        assert nullable == ["title"]
        assert not [note for note in source.notes if "could not" in note or "in part" in note]


@pytest.mark.parametrize("dialect", ["mysql", "tsql", "oracle"])
def test_a_computed_column_of_a_dump_is_marked(tmp_path: Path, dialect: str) -> None:
    """Only the computed column is, whatever follows its expression."""
    with read(tmp_path, DUMPS[dialect]) as source:
        computed = [column.name for column in source.tables[0].columns if column.generated]
        assert [name.lower() for name in computed] == ["gross"]


def test_types_of_db2_are_its_own(tmp_path: Path) -> None:
    """A date stays a date and an integer an integer, as they wouldn't in Oracle."""
    with read(tmp_path, DB2LOOK) as source:
        types = {column.name: column.type for column in source.tables[0].columns}
        assert (types["DUE"], types["NUMBER"], types["HASH"]) == ("DATE", "INTEGER", "BLOB")


@pytest.mark.parametrize(
    ("text", "title"),
    [
        ("CREATE TABLE `a` (`b` NVARCHAR(9) NOT NULL, CONSTRAINT `k` PRIMARY KEY (`b`));", "MySQL"),
        ("CREATE TABLE [a] ([b] INTEGER NOT NULL, [c] NVARCHAR(9), PRIMARY KEY ([b]));", "SQLite"),
        ("CREATE TABLE [a] ([b] [int] NOT NULL, [c] [nvarchar](9));", "T-SQL"),
        ("CREATE TABLE a (b NVARCHAR(9), c CLOB);", "standard SQL:"),
        ("CREATE TABLE a (b INT, c CLOB(1M) NOT LOGGED, d CHAR(9) FOR BIT DATA);", "Db2"),
        ("\\connect shop\nCREATE TABLE a (b INT);", "PostgreSQL"),
        ("COPY a (b) FROM stdin;\nAUTO_INCREMENT `x` GO\n\\.\nCREATE TABLE a (b INT);",
         "PostgreSQL"),
        ("CREATE TABLE a (b INT)\nGO\nCREATE TABLE c (d VARCHAR2(9))\nGO", "T-SQL"),
        ("CREATE TABLE a (b NUMBER(9))\n/\nCREATE TABLE c (d NUMBER(9))\n/", "Oracle"),
        ("INSERT INTO a VALUES ('AUTO_INCREMENT ENGINE=InnoDB');\nCREATE TABLE a (b INT);",
         "standard SQL:"),
        ("-- ENGINE=InnoDB AUTO_INCREMENT\nCREATE TABLE a (b INT);", "standard SQL:"),
        ("CREATE TABLE a (b INT DEFAULT 'GO', c VARCHAR(9) DEFAULT 'VARCHAR2');", "standard SQL:"),
    ],
)  # fmt: skip
def test_structure_decides_the_dialect(tmp_path: Path, text: str, title: str) -> None:
    """Quoting, terminators and headers weigh more than a type's name; rows and text nothing."""
    with read(tmp_path, text) as source:
        assert source.notes[0].startswith(f"Read as {title}")


SCHEMA = """
CREATE TABLE "Customer" (
  id integer PRIMARY KEY, email varchar(80) NOT NULL UNIQUE, note text DEFAULT 'a;b (''c'
);
CREATE TABLE visit (
  customer integer NOT NULL REFERENCES "Customer" (id) ON DELETE CASCADE, day date NOT NULL,
  cost numeric(9,2) CHECK (cost >= 0), PRIMARY KEY (customer, day)
);
CREATE TABLE bill (
  no integer PRIMARY KEY, customer integer, day date,
  FOREIGN KEY (customer, day) REFERENCES visit (customer, day)
);
INSERT INTO "Customer" VALUES (1, 'x', 'CREATE TABLE never (id int);');
"""


def declared(table: Table) -> tuple[object, ...]:
    columns = [(column.name, column.nullable) for column in table.columns]
    return table.name, columns, table.primary_key, table.unique_keys, table.foreign_keys


def assert_same(dump: Source, database: Source) -> None:
    """Every table that a dump declares is declared the same by the database it's from."""
    tables = sorted(map(declared, dump.tables), key=str)
    assert tables == sorted(map(declared, database.tables), key=str)
    assert not [note for note in dump.notes if "could not" in note or "in part" in note]


def test_what_sqlite_dumps_is_what_it_declares(tmp_path: Path) -> None:
    """SQLite's own dump of a database reads as the database does."""
    path = tmp_path / "shop.sqlite"
    with sqlite3.connect(path) as connection:
        connection.executescript(SCHEMA)
        dump = "\n".join(connection.iterdump())
    connection.close()
    with read(tmp_path, dump) as source, open_source(path) as database:
        assert_same(source, database)


@pytest.mark.parametrize("options", [(), ("--schema-only",), ("--inserts", "--clean")])
def test_what_pg_dump_writes_is_what_postgresql_declares(
    tmp_path: Path, postgres: PostgresDatabase, options: tuple[str, ...]
) -> None:
    """A dump by pg_dump, with rows or without, reads as the database does."""
    postgres.run(SCHEMA)
    dump = subprocess.run(
        [str(postgres.psql.with_name("pg_dump")), *options, postgres.uri],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    with read(tmp_path, dump.stdout) as source, open_source(postgres.uri) as database:
        assert source.notes[0].startswith("Read as PostgreSQL because of pg_dump's header")
        assert_same(source, database)
