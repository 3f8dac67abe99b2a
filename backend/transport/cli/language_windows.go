package cli

import "golang.org/x/sys/windows"

// systemLocale is the language of Windows' own windows, such as zh-CN.
func systemLocale() string {
	all, err := windows.GetUserPreferredUILanguages(windows.MUI_LANGUAGE_NAME)
	if err != nil || len(all) == 0 {
		return ""
	}
	return all[0]
}
