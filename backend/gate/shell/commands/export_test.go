package commands

// Meeting are arguments that meet a rule, for tests.
var Meeting = (*Spec).meeting
