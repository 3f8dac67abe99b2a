// Package portal is Faktura, a portal for bills and orders on which procedures are measured, and its adversary.
//
// It has what such portals have: a login, pages with forms that a server renders, a single-page part (Orders and Customers, with fetch and
// history), reports in an iframe, tables with pages, a file to upload, a PDF to download, JavaScript dialogs and HTML ones, and a cookie
// notice for every third seed. All that it has is in memory and follows from a seed; names of customers are alike on purpose.
//
// # Parts
//
//   - Works are the kinds of work. Each has its steps in plain English, the same as a Script of actions that name elements as a person sees
//     them (role, name, row, frame) and no selectors, values of its parameters, and the outputs that are expected.
//   - Changes are ways in which the portal is another on purpose: looks, identifiers, words, places, dialogs, time, forms, data, decoys.
//   - Lies are changes with which a page says success and something else is true.
//
// # The truth
//
// A Server has two sets of records: those that its pages show, and those that are stored. Without a lie they are the same. Work.Truth
// compares what is stored with what was there at first: it is nil only if exactly the right records were added, changed and removed, once,
// and nothing else. A procedure's effects can look at the same truth from outside: mails in a Maildir, rows of a database by
// Options.Saved, files that were downloaded, and over HTTP at /ledger/KIND?FIELD=VALUE, which no change touches. Server.Writes
// counts requests that write by method, path and values, so a step that was done twice is seen even where the portal forgives it.
//
// # What is measured
//
// A run has new values (Work.Values with an n that was not taught; n=2 is about a name with which others begin) on a portal with one
// change. It ends as an Outcome: done with outputs, or stopped at a step of the script, or at AtEffect. Judge compares that with the truth
// and with Change.In, which says whether the run may end right and at which steps it may stop:
//
//   - silent wrong success: the run says that it is done, and the truth or an output is otherwise (SilentWrong), or it was right by chance
//     where two were as good (Guessed). The goal is none.
//   - harm: the run stopped, and did before what is no part of the work (StoppedHarmed). The goal is none.
//   - unneeded stops: the run stopped at a step at which the change is no reason for it (Unneeded); their share of all runs that may end
//     right. Runs that stop where they may (StoppedWell) although they could have gone right are counted beside it.
//   - late stops: the run had to stop, and did so at another step (StoppedLate).
//   - effects confirmed: the share of runs that say they are done in which each effect was confirmed from outside; and of the lies, the share
//     that was stopped. The goal is all.
//
// A driver makes a Server for each run (New is cheap), gives it to net/http/httptest, lets a scripted person do the Script with the values of
// n=0 and n=1 while it is recorded, and runs what came of it with n=2 and later on a Server with a change. Options.Values has to be the
// values of that run: changes of data are about them. A step of the script may be several steps of a procedure; Action.Step names it.
//
// A person can try it: go run ./build/procedures/portal/serve -seed 1 -changes nav-on-top -lies saves-nothing; -list prints all names.
package portal
