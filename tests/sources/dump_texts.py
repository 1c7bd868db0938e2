"""Dumps with rows that several tests read."""

from collections.abc import Callable
from pathlib import Path

import pytest

Write = Callable[[str], Path]
MYSQL = r"""-- MySQL dump 10.13  Distrib 8.0.36, for Linux (x86_64)
CREATE TABLE `customer` (
  `id` int unsigned NOT NULL AUTO_INCREMENT,
  `name` varchar(50) DEFAULT NULL COMMENT 'as on the invoice',
  `photo` varbinary(10) DEFAULT NULL,
  `born` date DEFAULT NULL,
  PRIMARY KEY (`id`)
) ENGINE=InnoDB;
LOCK TABLES `customer` WRITE;
INSERT INTO `customer` VALUES (1,'it\'s; (ok), `x`',0x6869,'1990-02-28'),
(2,'back\\slash\nline',_binary 'ab',NULL);
INSERT INTO `customer` (`name`,`id`) VALUES (NULL,3);
UNLOCK TABLES;
"""


@pytest.fixture
def write(tmp_path: Path) -> Write:
    def written(text: str) -> Path:
        path = tmp_path / "dump.sql"
        path.write_text(text)
        return path

    return written


NESTED = """CREATE TABLE invoice (id integer PRIMARY KEY, lines jsonb, paid text, due text);
INSERT INTO invoice VALUES (1, '[{"sku":"a"},{"sku":"b"}]', '1.234', '01/02/2024');
INSERT INTO invoice VALUES (2, '[{"sku":"c"}]', '5.678', '03/04/2024');
"""
