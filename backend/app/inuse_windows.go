package app

import "golang.org/x/sys/windows"

const errInUse = windows.WSAEADDRINUSE
