package record

// DefaultExclude are the applications that are never recorded unless the operator says otherwise: those that
// keep passwords, and the system's own windows that ask for one. Each is a pattern in lower case, where *
// stands for anything, to be matched without regard to case against the whole name of an application, the
// whole file name of its executable, and the whole title of a window. A browser's page whose title begins with
// the name of a password manager is left out as well: its extension's windows look the same from outside, and
// a gap too many costs less than a password.
var DefaultExclude = []string{
	// Password managers: desktop applications by name and by executable, on all systems.
	"keepass", "keepass.exe", "keepassxc*", "keepassx", "keepassx.exe", "keepassdx*", "keeweb*", "macpass*", "strongbox*",
	"1password*", "op-ssh-sign*",
	"bitwarden*",
	"lastpass*",
	"dashlane*",
	"enpass*",
	"proton pass*", "protonpass*", "proton-pass*",
	"nordpass*", "roboform*", "keeper password manager*", "keeperpasswordmanager*",
	"passwords", "passwords.app", // macOS 15
	"password safe", "pwsafe*", "passwordsafe*",
	"buttercup*", "myki*", "padloc*", "passky*", "rememberwear*", "remembear*", "sticky password*",
	"qtpass*", "gopass*", "authenticator", "com.belmoussaoui.authenticator*", "ente auth*", "authy*",
	// Their browser extensions open windows of the browser's with a title of their own.
	"bitwarden - *", "1password – *", "1password — *", "keepassxc - *", "keepassxc-browser*",

	// GNOME and KDE: stores of passwords, and what asks for them.
	"seahorse*", "org.gnome.seahorse*", "passwords and keys", "org.gnome.world.secrets*", "gnome-secrets*", "secrets",
	"password safe - *",
	"gnome-keyring*", "gcr-prompter*", "gcr4-prompter*", "gcr-ssh-askpass*",
	"kwallet*", "kwalletmanager*", "org.kde.kwalletmanager*", "ksecretd*", "ksshaskpass*",
	"pinentry*", "ssh-askpass*", "x11-ssh-askpass*", "lxqt-openssh-askpass*",
	"*polkit-*-authentication-agent*", "polkit-*agent*", "polkit-gnome*", "polkit-kde*", "polkit-mate*", "xfce-polkit*",
	"lxpolkit*", "lxqt-policykit*", "mate-polkit*", "policykit*",
	"gksu*", "gksudo*", "kdesu*", "kdesudo*", "lxqt-sudo*", "lxsudo*",

	// Windows: the prompts for credentials, for elevation, and the logon screen.
	"credentialuibroker*", "credential manager ui host", "windows security", "windows-sicherheit", "windows 安全中心", "windows 安全",
	"consent.exe", "consent ui for administrative applications", "logonui*", "credwiz*", "keymgr*", "lockapp*",

	// macOS: Keychain Access, its prompts, and the login window.
	"keychain access", "keychain access*", "securityagent*", "coreauthui*", "coreautha*", "localauthentication*", "loginwindow",
	"authorizationhost*", "universalaccessauthwarn*",

	// Screen lockers, where they are windows.
	"i3lock*", "xscreensaver*", "swaylock*", "gnome-screensaver*", "kscreenlocker*", "light-locker*", "xsecurelock*", "physlock*",
}
