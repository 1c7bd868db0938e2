"""What the tests of the kinds of sources share with those of their reading."""

from tests.sources.temporary_files import temporary as temporary
