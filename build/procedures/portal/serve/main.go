// Command serve serves the portal on loopback until it is interrupted, and prints its address and login.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/signal"
	"strings"
	"text/tabwriter"
	"time"

	"deskbell/build/procedures/portal"
)

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "serve:", err)
		os.Exit(1)
	}
}

func run() error {
	seed := flag.Uint64("seed", 1, "what the portal's records follow from")
	changes := flag.String("changes", "", "names of changes, with commas between")
	lies := flag.String("lies", "", "names of lies, with commas between")
	address := flag.String("address", "127.0.0.1:0", "where it is served")
	maildir := flag.String("maildir", "", "where mails are delivered")
	lived := flag.Bool("lived", false, "pages say what those of a portal say that is used every day")
	list := flag.Bool("list", false, "print the changes and the lies, and end")
	flag.Parse()
	if *list {
		return print()
	}
	s, err := portal.New(portal.Options{Seed: *seed, Changes: strings.FieldsFunc(*changes+","+*lies, func(r rune) bool { return r == ',' }), Maildir: *maildir, Lived: *lived})
	if err != nil {
		return err
	}
	l, err := net.Listen("tcp", *address)
	if err != nil {
		return err
	}
	fmt.Printf("http://%s  user %s  password %q\n", l.Addr(), portal.User, portal.Password)
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	server := &http.Server{Handler: s, ReadHeaderTimeout: 10 * time.Second}
	context.AfterFunc(ctx, func() { _ = server.Close() })
	if err := server.Serve(l); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

func print() error {
	w := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', 0)
	for _, c := range portal.Changes {
		fmt.Fprintf(w, "%s\t%s\n", c.Name, c.Does)
	}
	for _, c := range portal.Lies {
		fmt.Fprintf(w, "%s\t%s\n", c.Name, "A lie. "+c.Does)
	}
	return w.Flush()
}
