// Package portal is Faktura, a portal for bills and orders on which procedures are measured, and its adversary.
package portal
