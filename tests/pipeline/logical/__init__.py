"""Tests of the logical stage."""
