// What all pages of the portal share, and its single-page part. Faktura.changes are functions that change a part of a page before it is shown.
(() => {
  const F = window.Faktura
  let view // where the single-page part is shown
  F.ask = (text, yes) => { if (confirm(text)) yes() }
  F.dress = root => F.changes.forEach(change => change(root))
  F.toast = (text, bad) => {
    const e = document.createElement('div')
    e.className = bad ? 'toast bad' : 'toast'
    e.textContent = text
    document.querySelector('[aria-live]').append(e)
    setTimeout(() => e.remove(), 6000)
  }

  const fragment = async () => {
    const path = location.pathname.slice(F.base.length).replace('/app/', '/fragment/')
    const r = await fetch(F.base + path + location.search)
    if (r.status === 401) return location.assign(F.base + '/login')
    const t = document.createElement('template')
    t.innerHTML = await r.text()
    return t.content
  }
  const show = async () => {
    const part = await fragment()
    if (!part) return
    if (F.late) await new Promise(go => setTimeout(go, 1500))
    F.dress(part)
    view.replaceChildren(...(F.shadow ? [document.querySelector('link[rel=stylesheet]').cloneNode(), ...document.head.querySelectorAll('style')].map(e => e.cloneNode(true)) : []), part)
  }
  F.go = (url, replace) => {
    const path = new URL(url, location.href)
    if (!view || !path.pathname.startsWith(F.base + '/app/')) return location.assign(path)
    history[replace ? 'replaceState' : 'pushState']({}, '', path)
    return show()
  }

  // send sends a form by fetch, as its attributes say.
  F.send = async (form, method) => {
    const r = await fetch(form.action, {
      method, headers: {'Content-Type': 'application/json', 'X-CSRF': F.csrf}, body: JSON.stringify(Object.fromEntries(new FormData(form))),
    })
    const answer = await r.json().catch(() => ({error: 'Something went wrong.'}))
    if (r.status === 401) return location.assign(F.base + '/login')
    if (!r.ok) return F.toast(answer.error, true)
    F.toast(answer.say)
    await F.go(F.base + answer.go)
  }
  const submit = form => form.dataset.send ? F.send(form, form.dataset.send) : form.submit()

  const listen = root => {
    root.addEventListener('submit', e => {
      if (e.defaultPrevented || e.target.method === 'get' && !e.target.dataset.send) return
      e.preventDefault()
      if (e.target.dataset.confirm) F.ask(e.target.dataset.confirm, () => submit(e.target))
      else submit(e.target)
    })
    root.addEventListener('click', e => {
      const on = e.target.closest?.('[data-on]')
      if (e.defaultPrevented || !on) return
      const act = {
        'go': () => { e.preventDefault(); F.go(on.href) },
        'open-dialog': () => root.querySelector('dialog').showModal(),
        'close-dialog': () => on.closest('dialog').close(),
        'close-notice': () => on.closest('aside, dialog').remove(),
        'delete': () => F.ask('Delete this customer?', () => F.send(on.closest('form'), 'DELETE')),
      }[on.dataset.on]
      act?.()
    })
  }

  F.start = () => {
    const app = document.querySelector('[data-on=app]')
    F.dress(document.body)
    listen(document)
    if (!app) return
    view = app
    if (F.shadow) listen(view = app.attachShadow({mode: 'open'}))
    addEventListener('popstate', show)
    show()
    if (F.refresh) setInterval(() => { if (!/\/new|edit=/.test(location.href)) show() }, 200)
  }
})()
