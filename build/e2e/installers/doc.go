// Package installers tests what `make installers` makes for Linux, as users install it. Run it with `make test-deb`.
package installers
