package cli

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"io"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"deskbell/backend/human"
	"deskbell/backend/queue/receipt"
	"deskbell/backend/transport/client"
)

func (s *shell) receiptsCommand() *cobra.Command {
	c := &cobra.Command{
		Use: "receipts", Short: "Show the receipts of answers, and the keys that sign them",
		Long: "Show the receipts of answers, and the keys that sign them. `deskbell verify` checks one; docs/receipts.md says what one shows.",
	}
	show := s.agentCommand(&cobra.Command{
		Use: "show OPERATION_ID", Short: "Print the receipts of an operation's answers as JSON", Args: cobra.ExactArgs(1),
		Long: "Print the receipts of an operation's answers as JSON: an agent's own with its key (DESKBELL_KEY), any as an operator.",
		RunE: func(c *cobra.Command, args []string) error {
			reader, err := s.agent()
			if human.KindOf(err) == human.Unauthorized {
				reader, err = s.operator(c.Context())
			}
			if err != nil {
				return err
			}
			found, err := reader.Receipts(c.Context(), human.OperationID(args[0]))
			if err != nil {
				return err
			}
			s.printf("%s\n", bytes.TrimSpace(found))
			return nil
		},
	})
	show.Flags().StringVar(&s.oneTime, "code", "", "an operator's one-time code, instead of an agent's key")
	show.Flags().Lookup("json").Hidden = true
	key := &cobra.Command{
		Use: "key", Short: "Show the public key that signs receipts, and those before it", Args: cobra.NoArgs,
		Long: "Show the public key that signs receipts, and those before it. With --json it prints what `deskbell verify --keys` reads:\n" +
			"give it to whoever is to check your receipts, by a way that an agent cannot change.",
		RunE: func(*cobra.Command, []string) error {
			dir, err := s.dir()
			if err != nil {
				return err
			}
			keys, err := s.ReceiptKeys(dir)
			if err != nil {
				return err
			}
			if s.json {
				return s.printJSON(struct {
					Keys []receipt.ServerKey `json:"keys"`
					receipt.Trust
				}{keys, receipt.TrustIn(keys)})
			}
			if len(keys) == 0 {
				s.note("There is no key yet. The first start of Deskbell makes one.")
			}
			for _, k := range keys {
				state := "signs now"
				if k.RetiredAt != nil {
					state = "retired " + k.RetiredAt.Local().Format(time.DateTime)
				}
				s.printf("%s  %s  made %s, %s\n", k.ID, k.PublicKey, k.MadeAt.Local().Format(time.DateTime), state)
			}
			return nil
		},
	}
	s.jsonFlag(key, "print what deskbell verify --keys reads")
	rotate := s.operatorFlags(&cobra.Command{
		Use: "rotate", Short: "Sign receipts with a new key from now on", Args: cobra.NoArgs,
		Long: "Sign receipts with a new key from now on. The key before signs that the new one takes its place, then its private half is deleted;\n" +
			"what it signed stays good. It needs proof of presence where that is set up. Hand out the new keys (deskbell receipts key --json):\n" +
			"who has the key before can check with it that they are yours (deskbell verify --newer-keys).",
		RunE: s.asOperator(func(ctx context.Context, operator *client.Client, _ []string) error {
			made, err := operator.NewReceiptKey(ctx)
			if err != nil {
				return err
			}
			if s.json {
				return s.printJSON(made)
			}
			s.printf("%s  %s\n", made.ID, made.PublicKey)
			return nil
		}),
	}, "print the key as one line of JSON")
	c.AddCommand(show, key, rotate)
	return c
}

func (s *shell) verifyCommand() *cobra.Command {
	var keys []string
	var keysFile, newerFile, before, audience string
	var anyDecision bool
	c := &cobra.Command{
		Use:   "verify RECEIPT",
		Short: "Check a receipt, without a server or a data folder",
		Long: "Check a receipt, without a server or a data folder. RECEIPT is a file, or - for standard input; of several receipts, as\n" +
			"`deskbell receipts show` prints them, it checks the last. The exit code is 0 when the receipt is authentic and approves what\n" +
			"was asked, 1 when not, 3 for an error. A receipt proves nothing without keys that you know from elsewhere: give --key or --keys.",
		Example: "  deskbell receipts key --json > keys.json        # once, by the operator\n  deskbell verify receipt.json --keys keys.json",
		Args:    cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			raw, err := s.receiptFrom(args[0])
			if err != nil {
				return err
			}
			trust, err := trustFrom(keysFile, keys)
			if err != nil {
				return err
			}
			if newerFile != "" {
				var newer struct {
					Keys []receipt.ServerKey `json:"keys"`
				}
				if err := readKeys(newerFile, &newer); err != nil {
					return err
				}
				trust = trust.Succeed(newer.Keys)
			}
			trust.Audience, trust.Now = audience, time.Now()
			report := receipt.Verify(raw, trust)
			if before != "" {
				raw, err := s.receiptFrom(before)
				if err != nil {
					return err
				}
				trust.Audience = "" // it may be another agent's
				report.CheckAfter(receipt.Verify(raw, trust))
			}
			if !report.Authorizes && (!anyDecision || !report.Authentic) {
				s.code = exitNo
			}
			if s.json {
				return s.printJSON(report)
			}
			s.showReport(report)
			return nil
		},
	}
	c.Flags().StringArrayVar(&keys, "key", nil, "a public key of the server that you trust: a PEM file, or the key in base64url; may be repeated")
	c.Flags().StringVar(&keysFile, "keys", "", "a file of keys that you trust, as `deskbell receipts key --json` prints them")
	c.Flags().StringVar(&newerFile, "newer-keys", "", "a file of later keys: one counts where a key that you trust signed that it takes its place")
	c.Flags().StringVar(&before, "after", "", "the receipt before it in the log, a file: check that this one follows it")
	c.Flags().StringVar(&audience, "audience", "", "whom the receipt must be for, such as urn:deskbell:agent:NAME")
	c.Flags().BoolVar(&anyDecision, "any-decision", false, "exit with 0 for every authentic receipt, one of a denial too")
	s.jsonFlag(c, "print the report as one line of JSON")
	return c
}

// maxReceipt is more than any receipt has, in bytes.
const maxReceipt = 4 << 20

// receiptFrom reads a receipt, or the last of several.
func (s *shell) receiptFrom(name string) ([]byte, error) {
	in := s.in
	if name != "-" {
		f, err := os.Open(name)
		if err != nil {
			return nil, human.Wrap(human.Invalid, err, "the receipt cannot be read: %v; `deskbell receipts show ID --json` prints one to save", err)
		}
		defer f.Close()
		in = f
	}
	raw, err := io.ReadAll(io.LimitReader(in, maxReceipt))
	if err != nil {
		return nil, human.Wrap(human.Invalid, err, "the receipt cannot be read: %v", err)
	}
	var list struct {
		Receipts []json.RawMessage `json:"receipts"`
	}
	if json.Unmarshal(raw, &list) == nil && len(list.Receipts) > 0 {
		return list.Receipts[len(list.Receipts)-1], nil
	}
	return raw, nil
}

// trustFrom is the keys of a file and those given one by one.
func trustFrom(file string, keys []string) (receipt.Trust, error) {
	trust := receipt.TrustIn(nil)
	if file == "" && len(keys) == 0 {
		return trust, human.Errorf(human.Invalid, "give the keys that you trust with --keys or --key; the operator's `deskbell receipts key --json` prints them")
	}
	if file != "" {
		if err := readKeys(file, &trust); err != nil {
			return trust, err
		}
	}
	if trust.LogKeys == nil {
		trust.LogKeys = map[string]string{}
	}
	for _, text := range keys {
		public, err := publicKey(text)
		if err != nil {
			return trust, err
		}
		trust.LogKeys[receipt.KeyID(public)] = receipt.PublicText(public)
	}
	return trust, nil
}

func readKeys(file string, to any) error {
	raw, err := os.ReadFile(file)
	if err == nil {
		err = json.Unmarshal(raw, to)
	}
	if err != nil {
		return human.Wrap(human.Invalid, err, "the keys in %s cannot be read: %v", file, err)
	}
	return nil
}

// publicKey reads a key given as a PEM file, or as text.
func publicKey(text string) (ed25519.PublicKey, error) {
	der, err := base64.RawURLEncoding.DecodeString(strings.TrimRight(text, "="))
	if err != nil {
		raw, err := os.ReadFile(text)
		if err != nil {
			return nil, human.Errorf(human.Invalid, "--key %s is neither a key in base64url nor a file", text)
		}
		block, _ := pem.Decode(raw)
		if block == nil {
			return nil, human.Errorf(human.Invalid, "--key %s has no key in PEM", text)
		}
		der = block.Bytes
	}
	parsed, err := x509.ParsePKIXPublicKey(der)
	public, is := parsed.(ed25519.PublicKey)
	if err != nil || !is {
		return nil, human.Errorf(human.Invalid, "--key %s is not an Ed25519 public key", text)
	}
	return public, nil
}

// checkedParts says what each check of a receipt looks at; the names are those of the draft.
var checkedParts = map[string]string{
	"format":               "it is a receipt",
	"action_hash":          "what was asked is what was signed",
	"context_commitments":  "every answer in it is about that",
	"signoff_signatures":   "keys that you trust signed each answer",
	"sod":                  "no one answered twice, or their own request",
	"inclusion":            "it is in the log of receipts",
	"checkpoint_signature": "a key that you trust signed the log",
	"windows":              "it was answered in time",
	"audience":             "it is for whom --audience names",
	"chain":                "it follows the receipt of --after",
	"approved":             "enough operators approve",
}

func (s *shell) showReport(r receipt.Verification) {
	switch {
	case !r.Authentic:
		s.printf("NOT AUTHENTIC: do not act on this receipt\n")
	case r.Authorizes:
		s.printf("authentic: it approves operation %s of %s, digest %s\n", visible(r.Operation), visible(r.Agent), visible(r.Digest))
	default:
		s.printf("authentic, and it approves nothing: operation %s of %s, digest %s\n", visible(r.Operation), visible(r.Agent), visible(r.Digest))
	}
	for _, signer := range r.Signers {
		s.printf("  %s by %s at %s, means %s, key class %s\n", visible(string(signer.Decision)), visible(signer.Operator), visible(signer.At), visible(string(signer.Means)), signer.KeyClass)
	}
	for _, check := range r.Checks {
		state := "ok"
		if !check.OK {
			state = "FAIL"
		}
		s.printf("  %-4s  %-20s  %s", state, check.Name, checkedParts[check.Name])
		if check.Detail != "" {
			s.printf(": %s", visible(check.Detail))
		}
		s.printf("\n")
	}
	if r.Hash != "" {
		follows := "follows no other"
		if r.Follows != "" {
			follows = "follows " + visible(r.Follows)
		}
		s.printf("Number %d in the log of receipts, %s; it %s\n", r.Position, r.Hash, follows)
	}
	s.printf("It cannot show:\n")
	for _, text := range r.CannotKnow {
		s.printf("  %s\n", text)
	}
}
