package human

import (
	"cmp"
	"encoding/json"
	"net/url"
	"slices"
	"strings"
	"time"
)

// BrowserSource is what is done in the pages of a browser.
const BrowserSource SourceName = "browser"

// The types of events of a browser. X, Y and the bounds of elements are in CSS pixels from the top left of
// the tab's viewport, whatever frame they lie in. Page is set in all of them.
const (
	PageOpened     RecordedType = "page_opened"    // a tab or popup; Page.Opener, where a page opened it
	PageClosed     RecordedType = "page_closed"    //
	PageShown      RecordedType = "page_shown"     // the tab came to the front
	PageNavigated  RecordedType = "page_navigated" // Navigation; Page is what it shows now
	PagePress      RecordedType = "page_press"     // X Y Button Modifiers Element, as it was before anything changed
	PageClick      RecordedType = "page_click"     // X Y Button Modifiers Element, Count which of a double or triple click; Values: checked or unchecked
	PageInput      RecordedType = "page_input"     // Element, Text (masked) that stands in the field after typing, Count its characters
	PageChoice     RecordedType = "page_choice"    // Element, Values (masked): of a select its options' labels, of a checkbox or radio button checked or unchecked, of a date, color or range its value
	PageKey        RecordedType = "page_key"       // Key Modifiers Element: one that makes no text, or a shortcut
	PageScrolled   RecordedType = "page_scroll"    // ToX ToY, the offset when it came to rest; Element, where it was not the page that scrolled
	PageDrag       RecordedType = "page_drag"      // X Y Element to ToX ToY Target
	PageHover      RecordedType = "page_hover"     // X Y Element: something opened because the pointer rested there
	PageCopied     RecordedType = "page_copy"      // Element, Count characters, Text (masked) where the clipboard may be recorded; Values: copy or cut
	PagePasted     RecordedType = "page_paste"     // Element, Count characters
	PageMedia      RecordedType = "page_media"     // Element, a player; Values: play, pause, seek and the second, mute, unmute, volume and percent, speed and factor, fullscreen, window
	PageMessage    RecordedType = "page_message"   // Text (masked) that the page showed after something was done; Element, where, without a name; Values: invalid, where the browser did not send a form because of Element; loaded, where it came with the page
	PageDialog     RecordedType = "page_dialog"    // Dialog, when it was answered
	PageUpload     RecordedType = "page_upload"    // Element, Transfers: names and sizes
	PageDownload   RecordedType = "page_download"  // Transfers, one, when it ended
	PagePicked     RecordedType = "page_pick"      // Pick, Element, Picture: its crop
	PageRequest    RecordedType = "page_request"   // Request
	PageAnswer     RecordedType = "page_answer"    // Request: its method, address and status, where requests are not recorded; of one that changes something, at the page's own site
	PageConsole    RecordedType = "page_console"   // Console
	PageDOM        RecordedType = "page_dom"       // DOM: an event of rrweb, masked by it
	BrowserChanged RecordedType = "browser"        // Text: opened, attached, closed, lost; App, the browser
)

// BrowserOptions are what the operator chose for the browser of one recording.
type BrowserOptions struct {
	URL     string `json:"url,omitempty" doc:"Where it opens; absent: details.url of the operation, else an empty page. Only http, https and about:blank."`
	Profile string `json:"profile,omitempty" enum:"kept,throwaway" doc:"Deskbell's own profile, whose logins stay (default), or one that is deleted afterwards."`
	Attach  string `json:"attach,omitempty" doc:"Address of a running browser's debugging port on this machine, such as http://127.0.0.1:9222; absent: a browser is opened."`
	Network bool   `json:"network,omitempty" doc:"Record requests, without bodies and credentials."`
	Console bool   `json:"console,omitempty" doc:"Record errors and warnings of the page's console."`
	DOM     bool   `json:"dom,omitempty" doc:"Record the page itself with rrweb, so that it can be played like a film; slows pages down."`
}

// A WebPage is a page of the browser, and the frame of it that an event came from.
type WebPage struct {
	Target   string  `json:"target" doc:"The tab or popup: t1, t2, in the order they were seen."`
	Opener   string  `json:"opener,omitempty" doc:"The tab that opened it."`
	URL      string  `json:"url" doc:"Of the whole page; secret parameters are masked."`
	Title    string  `json:"title,omitempty"`
	Frame    []int   `json:"frame,omitempty" doc:"From the page down: which child each frame is, from 0; absent: the page itself."`
	FrameURL string  `json:"frame_url,omitempty" doc:"Of that frame, masked."`
	W        int     `json:"w,omitempty" doc:"Of the viewport, in CSS pixels; all of a picture of the page."`
	H        int     `json:"h,omitempty"`
	ScreenX  float64 `json:"screen_x,omitempty" doc:"Where the viewport's top left stands on the desktop, in CSS pixels, where that is known."`
	ScreenY  float64 `json:"screen_y,omitempty"`
	Scale    float64 `json:"scale,omitempty" doc:"Pixels of the desktop to a CSS pixel."`
}

// A Navigation is how a page came to show what it shows.
type Navigation struct {
	Kind   string `json:"kind" enum:"link,form,script,address,reload,back_forward,redirect,history,fragment,restored" doc:"address: typed, bookmarked or opened by Deskbell; history: pushState or replaceState."`
	Sends  bool   `json:"sends,omitempty" doc:"It came of a form that was sent by POST."`
	Status int    `json:"status,omitempty" doc:"HTTP status, where there was one."`
	Failed string `json:"failed,omitempty" doc:"The network's error, such as net::ERR_NAME_NOT_RESOLVED."`
}

// A Dialog is a JavaScript dialog and what became of it, or a message of the page itself, which asks for no answer.
type Dialog struct {
	Kind     string `json:"kind" enum:"alert,confirm,prompt,beforeunload,message"`
	Message  string `json:"message" doc:"Masked."`
	Accepted bool   `json:"accepted"`
	Input    string `json:"input,omitempty" doc:"What was typed into a prompt, masked."`
}

// A Transfer is a file that came or went.
type Transfer struct {
	Name  string `json:"name" doc:"Without its folder."`
	Size  int64  `json:"size,omitempty"`
	Type  string `json:"type,omitempty" doc:"Media type."`
	URL   string `json:"url,omitempty" doc:"Where a download came from, masked."`
	Hash  string `json:"sha256,omitempty" doc:"Of a download, in hex."`
	State string `json:"state,omitempty" enum:"completed,canceled" doc:"Of a download."`
}

// How a pick takes what it takes.
const (
	TakeElement   = "element"   // the text of an element, or the value of a field
	TakeSelection = "selection" // the text that is selected on the page now
	TakeTable     = "table"     // the whole table around the element, as rows
	TakeList      = "list"      // the whole list around the element, as rows of one cell
)

// A PickRequest asks the operator to point at something on the page for a field.
type PickRequest struct {
	Field string `json:"field" doc:"A name of details.data_to_extract, or one of the operator's own."`
	Take  string `json:"take,omitempty" enum:"element,selection,table,list" doc:"Absent: element."`
}

// A Pick is what was taken from a page for a field.
type Pick struct {
	Field  string     `json:"field"`
	Take   string     `json:"take" enum:"element,selection,table,list"`
	Text   string     `json:"text" doc:"Masked; of a table or list its rows as JSON."`
	Rows   [][]string `json:"rows,omitempty" doc:"Of a table or list, the first the header where it has one; masked."`
	Header bool       `json:"header,omitempty" doc:"The first of rows is a header."`
	Bounds Bounds     `json:"bounds,omitzero" doc:"What was picked, in the crop, in its pixels."`
}

// A WebRequest is one request of a page, without bodies, cookies and credentials (HAR 1.2's fields).
type WebRequest struct {
	Method    string            `json:"method"`
	URL       string            `json:"url" doc:"Masked."`
	Kind      string            `json:"kind" doc:"document, script, xhr, ...: DevTools' resource type in lower case."`
	At        time.Time         `json:"at"`
	Status    int               `json:"status,omitempty"`
	Protocol  string            `json:"protocol,omitempty"`
	Type      string            `json:"type,omitempty" doc:"Media type of the answer."`
	Size      int64             `json:"size" doc:"Bytes on the wire."`
	Took      int64             `json:"took_ns"`
	Wait      int64             `json:"wait_ns,omitempty" doc:"Until the first byte."`
	Asked     map[string]string `json:"asked,omitempty" doc:"Request headers on the list of harmless ones."`
	Answered  map[string]string `json:"answered,omitempty" doc:"Response headers on the list of harmless ones."`
	Failed    string            `json:"failed,omitempty"`
	FromCache bool              `json:"from_cache,omitempty"`
}

// Changes says whether a request is one that changes something, and not one that only reads.
func (r *WebRequest) Changes() bool {
	return slices.Contains([]string{"POST", "PUT", "PATCH", "DELETE"}, r.Method)
}

// SameSite says whether an address is of the page's host, or the frame's, or of one below or above it.
func (p *WebPage) SameSite(address string) bool {
	return sameSite(address, cmp.Or(p.FrameURL, p.URL)) || sameSite(address, p.URL)
}

func sameSite(a, b string) bool {
	first, err := url.Parse(a)
	second, err2 := url.Parse(b)
	if err != nil || err2 != nil || first.Hostname() == "" || second.Hostname() == "" {
		return false
	}
	x, y := strings.TrimPrefix(strings.ToLower(first.Hostname()), "www."), strings.TrimPrefix(strings.ToLower(second.Hostname()), "www.")
	return x == y || strings.HasSuffix(x, "."+y) || strings.HasSuffix(y, "."+x)
}

// A WebAnswer is what a server answered to a request that changes something.
type WebAnswer struct {
	Method string `json:"method" enum:"POST,PUT,PATCH,DELETE"`
	URL    string `json:"url,omitempty" doc:"Masked; absent for an agent."`
	Status int    `json:"status" doc:"2xx: it was done; 400 and more: it was not."`
}

// A ConsoleLine is an error or warning of a page's console.
type ConsoleLine struct {
	Level string `json:"level" enum:"error,warning"`
	Text  string `json:"text" doc:"Masked."`
	URL   string `json:"url,omitempty" doc:"Of the script, masked."`
	Line  int    `json:"line,omitempty"`
}

// Browsing are the fields that only events of a browser have.
type Browsing struct {
	Page       *WebPage        `json:"page,omitempty"`
	ToX        int             `json:"to_x,omitempty"`
	ToY        int             `json:"to_y,omitempty"`
	Target     *Element        `json:"target,omitempty" doc:"Where a drag ended."`
	Values     []string        `json:"values,omitempty"`
	Navigation *Navigation     `json:"navigation,omitempty"`
	Dialog     *Dialog         `json:"dialog,omitempty"`
	Transfers  []Transfer      `json:"transfers,omitempty"`
	Pick       *Pick           `json:"pick,omitempty"`
	Request    *WebRequest     `json:"request,omitempty"`
	Console    *ConsoleLine    `json:"console,omitempty"`
	DOM        json.RawMessage `json:"dom,omitempty"`
	// Ref is what the source calls this event, and Cause what it calls the one this belongs to (of a picture, the
	// press it shows). The recorder gives the event its seq and turns Cause into CausedBy; neither is stored.
	Ref   uint64 `json:"-"`
	Cause uint64 `json:"-"`
}

// The types of actions in a browser; Click, DoubleClick, TripleClick, Drag, Scroll, Typing, Shortcut, Paste
// and Copy are those of the desktop.
const (
	OpenPage    ActionType = "open_page"   // a tab or popup opened
	ClosePage   ActionType = "close_page"  //
	SwitchPage  ActionType = "switch_page" //
	Navigate    ActionType = "navigate"    //
	Choose      ActionType = "choose"      // options of a select, a date, a color, a value of a slider
	Check       ActionType = "check"       // Values: checked or unchecked
	Hover       ActionType = "hover"       //
	PlayMedia   ActionType = "media"       // Values as in PageMedia
	DialogEnded ActionType = "dialog"      //
	PageSaid    ActionType = "message"     // Dialog: the page showed it after CausedBy; Values as in PageMessage
	Upload      ActionType = "upload"      //
	Download    ActionType = "download"    //
	Extract     ActionType = "pick"        // something was picked from a page
)

// A FieldSource says where the value of a field came from. The value was corrected by hand where it is not
// Picked any more.
type FieldSource struct {
	Recording RecordingID `json:"recording_id"`
	Action    string      `json:"action_id" doc:"The pick."`
	Picked    string      `json:"picked" doc:"What was picked."`
	Corrected bool        `json:"corrected,omitempty" doc:"The value was changed by hand afterwards."`
	At        time.Time   `json:"at"`
	URL       string      `json:"url,omitempty" doc:"Of the page, masked."`
	Selector  string      `json:"selector,omitempty" doc:"Of what was picked."`
	Picture   string      `json:"picture,omitempty" doc:"Id of the crop."`
}

// Ref is the action as evidence.
func (s FieldSource) Ref() Ref { return Ref{Kind: RefAction, Recording: s.Recording, ID: s.Action} }
