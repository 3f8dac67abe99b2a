package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"deskbell/backend/browser"
	"deskbell/backend/human"
	"deskbell/backend/procedure"
)

const (
	procedureTurns  = 5
	procedureRounds = 10 // of four steps
	// playwright does the same steps: it prints how many ms they took, from the page that is loaded to the last assertion.
	playwright = `
import { chromium, expect } from '@playwright/test';
const [executablePath, address, rounds] = process.argv.slice(1);
const browser = await chromium.launch({ executablePath, headless: false, args: ['--no-sandbox', '--disable-gpu'] });
const page = await browser.newPage();
await page.goto(address);
await expect(page).toHaveTitle('Orders');
const began = performance.now();
for (let i = 1; i <= Number(rounds); i++) {
  await page.getByRole('textbox', { name: 'Customer' }).fill('Customer ' + i);
  await expect(page.getByRole('textbox', { name: 'Customer' })).toHaveValue('Customer ' + i);
  await page.getByRole('combobox', { name: 'Country' }).selectOption({ label: i % 2 ? 'France' : 'Norway' });
  await expect(page.getByText('Ships to ' + (i % 2 ? 'France' : 'Norway'))).toBeVisible();
  await page.getByRole('checkbox', { name: 'Express' }).setChecked(i % 2 === 1);
  await expect(page.getByText(i % 2 ? 'Express delivery' : 'Slow delivery', { exact: true })).toBeVisible();
  await page.getByRole('button', { name: 'Order' }).click();
  await expect(page.getByText('Ordered ' + i + '.')).toBeVisible();
}
console.log(performance.now() - began);
await browser.close();
`
	ordersPage = `<!doctype html><title>Orders</title><h1>Orders</h1>
<label>Customer <input id=customer></label>
<label>Country <select id=country onchange="ships.textContent = 'Ships to ' + this.value"><option>Norway<option>France<option>Chile</select></label> <span id=ships></span>
<label>Express <input type=checkbox id=express onchange="how.textContent = this.checked ? 'Express delivery' : 'Slow delivery'"></label> <span id=how>Slow delivery</span>
<button onclick="said.textContent = 'Ordered ' + ++n + '.'">Order</button><p id=said></p><script>let n = 0</script>`
)

// procedures compares a run of a procedure with a script for Playwright that does and asserts the same, in turns, in the same Chromium with a window.
func procedures(ctx context.Context) error {
	_, version, chromium, err := browser.Find("")
	if err != nil {
		return err
	}
	if chromium, err = filepath.Abs(chromium); err != nil {
		return err
	}
	site, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	web := &http.Server{ReadHeaderTimeout: time.Second, Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		_, _ = w.Write([]byte(ordersPage)) // whom it was for has gone
	})}
	go func() { _ = web.Serve(site) }() // ends with Close
	defer web.Close()
	address := "http://" + site.Addr().String() + "/"
	s, err := serve()
	if err != nil {
		return err
	}
	defer s.stop()
	if err := s.call(s.token, "POST", "/api/procedures", map[string]any{"procedure": ordering(address)}, nil); err != nil {
		return err
	}
	const steps = 4 * procedureRounds
	var ours, theirs []time.Duration
	for range procedureTurns {
		took, err := s.performs()
		if err != nil {
			return err
		}
		ours = append(ours, took/steps)
		if took, err = plays(ctx, chromium, address); err != nil {
			return err
		}
		theirs = append(theirs, took/steps)
	}
	fmt.Printf("\n## Running a procedure\n\nChromium %s with a window; %d steps, each with what must hold after it; %d runs each, in turns.\n\n| | a step, median | fastest run | slowest run |\n| --- | --- | --- | --- |\n", version, steps, procedureTurns)
	for _, row := range []struct {
		name string
		took []time.Duration
	}{{"Playwright", theirs}, {"a run, recorded", ours}} {
		percentilesOfRuns(row.name, row.took)
	}
	fmt.Printf("\nA step takes **%.2f** times as long as with Playwright.\n", float64(median(ours))/float64(median(theirs)))
	return nil
}

func percentilesOfRuns(name string, took []time.Duration) {
	least, most := took[0], took[0]
	for _, one := range took {
		least, most = min(least, one), max(most, one)
	}
	fmt.Printf("| %s | %s | %s | %s |\n", name, ms(median(took)), ms(least), ms(most))
}

// ordering is the procedure, as it would be taught.
func ordering(address string) human.Procedure {
	at := func(role, name, id string) *human.ProcedureTarget {
		return &human.ProcedureTarget{Role: role, Name: name, Selectors: [][]string{{"aria/" + name + `[role="` + role + `"]`}, {id}}}
	}
	says := func(text string) []human.ProcedureCheckpoint {
		return []human.ProcedureCheckpoint{{Is: "text", Text: text}}
	}
	p := human.Procedure{Format: 1, Name: "bench", Title: "Order", Where: "browser", Policy: procedure.Permissive, Does: []string{procedure.Reads}}
	add := func(s human.ProcedureStep) {
		s.ID = fmt.Sprint("s", len(p.Steps)+1)
		p.Steps = append(p.Steps, s)
	}
	add(human.ProcedureStep{Do: "navigate", Title: "Open", URL: address, Then: []human.ProcedureCheckpoint{{Is: "title", Text: "Orders"}}})
	for i := 1; i <= procedureRounds; i++ {
		customer, country, how, shown := fmt.Sprint("Customer ", i), "Norway", "unchecked", "Slow delivery"
		if i%2 == 1 {
			country, how, shown = "France", "checked", "Express delivery"
		}
		field := at("textbox", "Customer", "#customer")
		add(human.ProcedureStep{Do: "change", Title: "Type the customer", Text: customer, Target: field, Then: []human.ProcedureCheckpoint{{Is: "value", Text: customer, Target: field}}})
		add(human.ProcedureStep{Do: "selectOption", Title: "Choose the country", Options: []string{country}, Target: at("combobox", "Country", "#country"), Then: says("Ships to " + country)})
		add(human.ProcedureStep{Do: "check", Title: "Express or not", Options: []string{how}, Target: at("checkbox", "Express", "#express"), Then: says(shown)})
		add(human.ProcedureStep{Do: "click", Title: "Order", Target: at("button", "Order", "body > button"), Then: says(fmt.Sprintf("Ordered %d.", i))})
	}
	return p
}

// performs runs the procedure and returns how long its steps took, from the page that is loaded to the last checkpoint.
func (s *server) performs() (time.Duration, error) {
	var asked procedure.Asked
	if err := s.call(s.token, "POST", "/api/procedures/bench/runs", map[string]any{}, &asked); err != nil {
		return 0, err
	}
	path := "/api/operations/" + string(asked.Operation) + "/procedure"
	var r human.RunOfProcedure
	err := s.call(s.token, "POST", path, map[string]any{}, &r)
	for err == nil && !r.State.Over() && r.State != human.Halted && r.State != human.HeldUp {
		time.Sleep(200 * time.Millisecond)
		r = human.RunOfProcedure{}
		err = s.call(s.token, "GET", path, nil, &r)
	}
	if err != nil {
		return 0, err
	}
	if r.State != human.Succeeded {
		said, _ := json.Marshal(r)
		return 0, fmt.Errorf("the run did not succeed: %s", said)
	}
	return time.Duration(r.Steps[len(r.Steps)-1].At-r.Steps[0].At) * time.Millisecond, nil
}

// plays does the same with Playwright, which lies with the console's sources.
func plays(ctx context.Context, chromium, address string) (time.Duration, error) {
	cmd := exec.CommandContext(ctx, "node", "--input-type=module", "-e", playwright, chromium, address, fmt.Sprint(procedureRounds))
	cmd.Dir = "frontend"
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, os.Stderr
	if err := cmd.Run(); err != nil {
		return 0, errors.Join(errors.New("the script for Playwright failed"), err)
	}
	var took float64
	if _, err := fmt.Sscan(strings.TrimSpace(out.String()), &took); err != nil {
		return 0, err
	}
	return time.Duration(took * float64(time.Millisecond)), nil
}
