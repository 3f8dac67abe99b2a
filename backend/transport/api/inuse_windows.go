package api

import "golang.org/x/sys/windows"

const errInUse = windows.WSAEADDRINUSE
