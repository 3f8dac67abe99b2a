//go:build !windows

package main

func main() { panic("deskbell-setup is for Windows") }
