// Package layers shows that .golangci.yml forbids every import that goes up or sideways between the layers, and no
// import that goes down. `make lint` runs it, with GOLANGCI_LINT naming the linter.
package layers
