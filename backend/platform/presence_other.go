//go:build !windows

package platform

import "deskbell/backend/platform/presence"

func systemCheck() SystemCheck { return presence.New() }
