// Package attacks lets a scripted agent with a shell try to answer itself, to become an operator, to read what is not its own, and
// to get rid of the gatekeeper: with every defense on, where nothing may come of it, and with defenses off, where it must.
package attacks
