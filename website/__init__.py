"""The site of the documentation: the pages of docs/, and those that are made when it is built."""
