//go:build !windows

// Command deskbell-setup does for the installer what NSIS cannot.
package main

func main() { panic("deskbell-setup is for Windows") }
