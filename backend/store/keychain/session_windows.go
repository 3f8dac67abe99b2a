package keychain

import "github.com/danieljoos/wincred"

// keep keeps a session until the user logs off, and not on disk. The name is the one that go-keyring looks for.
func keep(user, token string) error {
	c := wincred.NewGenericCredential(service + ":" + user)
	c.UserName, c.CredentialBlob, c.Persist = user, []byte(token), wincred.PersistSession
	return c.Write()
}
