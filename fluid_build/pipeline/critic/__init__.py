"""The critic: rules that review a logical model, a contract and a transform plan."""
