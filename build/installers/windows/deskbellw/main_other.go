//go:build !windows

// Command deskbellw starts deskbell.exe without a console.
package main

func main() { panic("deskbellw is for Windows") }
