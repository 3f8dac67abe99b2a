// Package terminal tells when what is typed into a terminal is secret: a program that asks for a password there
// switches the terminal's echo off. It looks at the terminals of the processes below a window's.
package terminal
