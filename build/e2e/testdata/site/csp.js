document.getElementById('go').onclick = () => {
  let refused = false;
  try { document.getElementById('out').innerHTML = '<b>no</b>'; } catch { refused = true; }
  document.getElementById('out').textContent = document.getElementById('word').value + (refused ? ', markup refused' : ', markup accepted');
};
