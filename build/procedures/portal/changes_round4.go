package portal

var round4 = in(4, []Change{})

var lies4 = in(4, []Change{})
