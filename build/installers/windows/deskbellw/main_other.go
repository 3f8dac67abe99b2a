//go:build !windows

package main

func main() { panic("deskbellw is for Windows") }
