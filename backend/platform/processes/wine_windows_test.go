package processes_test

import "golang.org/x/sys/windows"

// lacks says whether this system is Wine and lacks something that Windows has, as Wine 8 does.
func lacks(what string) bool {
	wine := windows.NewLazySystemDLL("ntdll.dll").NewProc("wine_get_version").Find() == nil
	return wine && (what == "tcp6" || what == "arguments")
}
