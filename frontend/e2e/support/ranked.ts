/**
 * What the palette is asked, and which of two results must come first. They were written before the ranking was read: a word of its own comes
 * before the beginning of a longer one, and that before letters inside one, whatever they were found among. Commands alone, which are typed by their
 * beginnings, do not wait for what the server finds.
 */
export const requests = [
  'Unlock the door of the server room', 'Replace the lock of the safe', 'Blockchain node is out of sync', 'Clock drift on host db-3', 'Sign in to AWS with the hardware key',
'Review the port mapping', 'Import the contacts into the CRM', 'Support ticket: reply to Dana', 'Rename the production database', 'Form for the tax office', 'Check the platform of the payment gateway',
'Deploy api to staging', 'Redeploy the web site', 'Test the camera', 'Latest invoices of the vendor', '部署支付服务', '确认供应商的银行账号', '供应商名单', 'Plan the move to the new office', 'Explain the alarm in the cellar',
'Read the meter', 'Spreadsheet of quarterly costs', 'Time sheet for May', 'Runtime of the nightly job', 'Who owns the host name?', 'Ghost account in LDAP', "Cancel the recording of Monday's call", 'Key for the storage room',
'Fix the keyboard of the kiosk', 'Monkey patch in billing, is it needed?', 'Reagent order for the lab', 'The agent asks for a token', 'Draws on the whiteboard', 'Order a white board', 'Unlock the unsafe mode', 'Room of the server rack',
'Book the café', 'Decafeinated beans order', 'Catalogs for spring', 'Side entrance', 'Independent audit', 'Unsupported codec', 'Profile picture of Dana', 'Resize the volume', 'Recalled goods list', 'Webbrowser plugin of the kiosk'];
export const findings = [
  'The lock file was stale', 'The clock was three minutes late', 'Port 8443 is open', 'The report is 12 pages long', '账单由供应商支付', '回滚部署失败'];
export const decisions = [
  'ls aws-logs', 'docker run --net host alpine', 'flock /tmp/x make', 'cat user_id.txt'];
export const cases: [query: string, above: string, below: string][] = [
  ['lock', 'Replace the lock of the safe', 'Unlock the door of the server room'],
  ['lock', 'Replace the lock of the safe', 'Blockchain node is out of sync'],
  ['lock', 'The lock file was stale', 'Clock drift on host db-3'],
  ['lock', 'The lock file was stale', 'The clock was three minutes late'],
  ['lock', 'The lock file was stale', 'flock /tmp/x make'],
  ['LOCK', 'Replace the lock of the safe', 'Clock drift on host db-3'],
  ['board', 'Order a white board', 'Clipboard'],
  ['board', 'Order a white board', 'Draws on the whiteboard'],
  ['port', 'Review the port mapping', 'Import the contacts into the CRM'],
  ['port', 'Port 8443 is open', 'Support ticket: reply to Dana'],
  ['port', 'Review the port mapping', 'The report is 12 pages long'],
  ['form', 'Form for the tax office', 'Check the platform of the payment gateway'],
  ['deploy', 'Deploy api to staging', 'Redeploy the web site'],
  ['test', 'Test the camera', 'Latest invoices of the vendor'],
  ['plan', 'Plan the move to the new office', 'Explain the alarm in the cellar'],
  ['plan', 'Plan time limit', 'Explain the alarm in the cellar'],
  ['read', 'Read the meter', 'Spreadsheet of quarterly costs'],
  ['time', 'Time sheet for May', 'Runtime of the nightly job'],
  ['time', 'Default time limit', 'Runtime of the nightly job'],
  ['host', 'Who owns the host name?', 'Ghost account in LDAP'],
  ['host', 'docker run --net host alpine', 'Ghost account in LDAP'],
  ['host', 'Allowed hosts', 'Ghost account in LDAP'],
  ['key', 'Key for the storage room', 'Fix the keyboard of the kiosk'],
  ['key', 'Show keyboard shortcuts', 'Monkey patch in billing, is it needed?'],
  ['agent', 'Go to agents', 'Reagent order for the lab'],
  ['aws', 'ls aws-logs', 'Draws on the whiteboard'],
  ['供应商', '供应商名单', '确认供应商的银行账号'],
  ['供应商', '供应商名单', '账单由供应商支付'],
  ['部署', '部署支付服务', '回滚部署失败'],
  ['lock safe', 'Replace the lock of the safe', 'Unlock the unsafe mode'],
  ['server room', 'Unlock the door of the server room', 'Room of the server rack'],
  ['cafe', 'Book the café', 'Decafeinated beans order'],
  ['logs', 'ls aws-logs', 'Catalogs for spring'],
  ['id', 'cat user_id.txt', 'Side entrance'],
  ['dep', 'Deploy api to staging', 'Independent audit'],
  ['sup', 'Support ticket: reply to Dana', 'Unsupported codec'],
  ['name', 'Who owns the host name?', 'Rename the production database'],
  ['name', 'Your name', 'Rename the production database'],
  ['file', 'The lock file was stale', 'Profile picture of Dana'],
  ['browser', 'Browser path', 'Webbrowser plugin of the kiosk'],
  ['size', 'Details size', 'Resize the volume'],
  ['call', "Cancel the recording of Monday's call", 'Recalled goods list'],
  ['log', 'Write a log of finished requests', 'Catalogs for spring'],
  ['monday', "Cancel the recording of Monday's call", 'Default time limit'],
];
