package portal

var round5 = in(5, []Change{})

var lies5 = in(5, []Change{})
