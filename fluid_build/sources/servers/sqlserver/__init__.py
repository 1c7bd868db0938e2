"""SQL Server and Azure SQL databases."""
