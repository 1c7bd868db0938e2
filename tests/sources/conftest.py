"""What the tests of the sources share."""

from tests.sources.temporary_files import temporary as temporary
