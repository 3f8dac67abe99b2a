import type { Setting } from '../../lib/wire';
import { m } from '../../paraglide/messages';

/** What the settings view says of one setting, in the page's language. */
export interface SettingWords {
  name: () => string;
  doc: () => string;
  /** Names of its values, where they are a choice. */
  options?: Record<string, () => string>;
}

interface Part {
  title: () => string;
  settings: Record<string, SettingWords>;
}

/** All groups, in the order of the view. */
const parts: Part[] = [
  {
    title: m.part_desktop,
    settings: { 'ui.start_with_session': { name: m.name_start_with_session, doc: m.doc_start_with_session } },
  },
  {
    title: m.part_operator,
    settings: { 'operator.name': { name: m.name_operator, doc: m.doc_operator } },
  },
  {
    title: m.part_human,
    settings: {
      'human.enabled': { name: m.name_enabled, doc: m.doc_enabled },
      'human.default_timeout': { name: m.name_default_timeout, doc: m.doc_default_timeout },
      'human.max_pending_requests': { name: m.name_max_pending, doc: m.doc_max_pending },
      'human.auto_summarize': { name: m.name_auto_summarize, doc: m.doc_auto_summarize },
      'ui.auto_advance': { name: m.name_auto_advance, doc: m.doc_auto_advance },
      'human.undo_seconds': { name: m.name_undo_seconds, doc: m.doc_undo_seconds },
      'human.max_history': { name: m.name_max_history, doc: m.doc_max_history },
    },
  },
  {
    title: m.part_plan,
    settings: {
      'plan.confirm_by_human': { name: m.name_plan_confirm, doc: m.doc_plan_confirm },
      'plan.confirmation_timeout': { name: m.name_plan_timeout, doc: m.doc_plan_timeout },
      'plan.allow_task_modification': { name: m.name_plan_modify, doc: m.doc_plan_modify },
      'plan.auto_confirm_safe_tasks': { name: m.name_plan_auto, doc: m.doc_plan_auto },
      'plan.confirmations': { name: m.name_plan_confirmations, doc: m.doc_plan_confirmations },
      'plan.operators': { name: m.name_plan_operators, doc: m.doc_plan_operators },
    },
  },
  {
    title: m.part_team,
    settings: { 'team.second_approval': { name: m.name_second_approval, doc: m.doc_second_approval, options: { none: m.option_approval_none, low: m.risk_low, medium: m.risk_medium, high: m.risk_high, critical: m.risk_critical } } },
  },
  {
    title: m.part_retention,
    settings: {
      'retention.pictures_days': { name: m.name_retention_pictures, doc: m.doc_retention_pictures },
      'retention.recordings_days': { name: m.name_retention_recordings, doc: m.doc_retention_recordings },
      'retention.requests_days': { name: m.name_retention_requests, doc: m.doc_retention_requests },
      'retention.max_megabytes': { name: m.name_retention_size, doc: m.doc_retention_size },
    },
  },
  {
    title: m.part_backup,
    settings: {
      'backup.daily': { name: m.name_backup_daily, doc: m.doc_backup_daily },
      'backup.at': { name: m.name_backup_at, doc: m.doc_backup_at },
      'backup.folder': { name: m.name_backup_folder, doc: m.doc_backup_folder },
      'backup.days': { name: m.name_backup_days, doc: m.doc_backup_days },
      'backup.weeks': { name: m.name_backup_weeks, doc: m.doc_backup_weeks },
      'backup.months': { name: m.name_backup_months, doc: m.doc_backup_months },
    },
  },
  {
    title: m.part_sinks,
    settings: {
      'sinks.knowledge': { name: m.name_sinks_knowledge, doc: m.doc_sinks_knowledge },
      'sinks.log': { name: m.name_sinks_log, doc: m.doc_sinks_log },
      'sinks.folder': { name: m.name_sinks_folder, doc: m.doc_sinks_folder },
      'sinks.webhook.url': { name: m.name_sinks_webhook_url, doc: m.doc_sinks_webhook_url },
      'sinks.webhook.body': { name: m.name_sinks_webhook_body, doc: m.doc_sinks_webhook_body },
    },
  },
  {
    title: m.part_monitoring,
    settings: {
      'metrics.enabled': { name: m.name_metrics_enabled, doc: m.doc_metrics_enabled },
      'metrics.agents': { name: m.name_metrics_agents, doc: m.doc_metrics_agents },
      'telemetry.otlp_endpoint': { name: m.name_telemetry_otlp_endpoint, doc: m.doc_telemetry_otlp_endpoint },
    },
  },
  {
    title: m.part_updates,
    settings: {
      'updates.check': { name: m.name_updates_check, doc: m.doc_updates_check },
      'updates.feed': { name: m.name_updates_feed, doc: m.doc_updates_feed },
    },
  },
  {
    title: m.part_notifications,
    settings: {
      'notifications.enabled': { name: m.name_notifications, doc: m.doc_notifications },
      'notifications.after': { name: m.name_notifications_after, doc: m.doc_notifications_after },
      'notifications.repeat_minutes': { name: m.name_repeat_minutes, doc: m.doc_repeat_minutes },
      'notifications.repeat_times': { name: m.name_repeat_times, doc: m.doc_repeat_times },
      'notifications.quiet_until': { name: m.name_quiet_until, doc: m.doc_quiet_until },
      'notifications.quiet_with_system': { name: m.name_quiet_with_system, doc: m.doc_quiet_with_system },
      'notifications.quiet_critical': { name: m.name_quiet_critical, doc: m.doc_quiet_critical },
    },
  },
  {
    title: m.part_recording,
    settings: {
      'recording.enabled': { name: m.name_recording_enabled, doc: m.doc_recording_enabled },
      'recording.max_minutes': { name: m.name_recording_max_minutes, doc: m.doc_recording_max_minutes },
      'recording.max_megabytes': { name: m.name_recording_max_megabytes, doc: m.doc_recording_max_megabytes },
      'recording.folders': { name: m.name_recording_folders, doc: m.doc_recording_folders },
      'recording.clipboard': { name: m.name_recording_clipboard, doc: m.doc_recording_clipboard, options: { off: m.rec_clipboard_off, kind: m.rec_clipboard_kind, content: m.rec_clipboard_content } },
      'recording.exclude': { name: m.name_recording_exclude, doc: m.doc_recording_exclude },
      'recording.exclude_defaults': { name: m.name_recording_exclude_defaults, doc: m.doc_recording_exclude_defaults },
      'recording.terminal.shell': { name: m.name_recording_terminal_shell, doc: m.doc_recording_terminal_shell },
    },
  },
  {
    title: m.part_recording_browser,
    settings: {
      'recording.browser.path': { name: m.name_recording_browser_path, doc: m.doc_recording_browser_path },
      'recording.browser.profile': { name: m.name_recording_browser_profile, doc: m.doc_recording_browser_profile, options: { kept: m.option_profile_kept, throwaway: m.option_profile_throwaway } },
      'recording.browser.exclude': { name: m.name_recording_browser_exclude, doc: m.doc_recording_browser_exclude },
      'recording.browser.parameters': { name: m.name_recording_browser_parameters, doc: m.doc_recording_browser_parameters },
      'recording.browser.network': { name: m.name_recording_browser_network, doc: m.doc_recording_browser_network },
      'recording.browser.console': { name: m.name_recording_browser_console, doc: m.doc_recording_browser_console },
    },
  },
  {
    title: m.part_summarizers,
    settings: {
      'summarizers.use': { name: m.name_summarizers_use, doc: m.doc_summarizers_use },
      'summarizers.language': { name: m.name_summarizers_language, doc: m.doc_summarizers_language, options: { request: m.option_language_request, en: () => 'English', 'zh-CN': () => '简体中文' } },
      'summarizers.plugins': { name: m.name_summarizers_plugins, doc: m.doc_summarizers_plugins },
    },
  },
  {
    title: m.part_model,
    settings: {
      'model.provider': { name: m.name_model_provider, doc: m.doc_model_provider, options: { none: m.option_provider_none, anthropic: () => 'Anthropic', openai: () => 'OpenAI' } },
      'model.name': { name: m.name_model_name, doc: m.doc_model_name },
      'model.base_url': { name: m.name_model_base_url, doc: m.doc_model_base_url },
      'model.allow_http': { name: m.name_model_allow_http, doc: m.doc_model_allow_http },
      'model.pictures': { name: m.name_model_pictures, doc: m.doc_model_pictures },
      'model.max_input_tokens': { name: m.name_model_max_input_tokens, doc: m.doc_model_max_input_tokens },
      'model.max_output_tokens': { name: m.name_model_max_output_tokens, doc: m.doc_model_max_output_tokens },
      'model.price': { name: m.name_model_price, doc: m.doc_model_price },
    },
  },
  {
    title: m.part_server,
    settings: {
      'server.addr': { name: m.name_addr, doc: m.doc_addr },
      'server.allow_hosts': { name: m.name_allow_hosts, doc: m.doc_allow_hosts },
      'server.allow_remote': { name: m.name_allow_remote, doc: m.doc_allow_remote },
      'server.check_callers': { name: m.name_check_callers, doc: m.doc_check_callers },
      'phone.addr': { name: m.name_phone_addr, doc: m.doc_phone_addr },
    },
  },
  {
    title: m.part_limits,
    settings: {
      'limits.max_description': { name: m.name_max_description, doc: m.doc_max_description },
      'limits.max_details': { name: m.name_max_details, doc: m.doc_max_details },
      'limits.max_context': { name: m.name_max_context, doc: m.doc_max_context },
      'limits.attachments_megabytes': { name: m.name_attachments_megabytes, doc: m.doc_attachments_megabytes },
    },
  },
];

export interface Group {
  title: () => string;
  rows: { setting: Setting; words: SettingWords }[];
}

/** The words of a setting, where it has any. */
export const wordsOf = (key: string): SettingWords | undefined => parts.find(({ settings }) => key in settings)?.settings[key];

/** Sorts settings into the view's groups. A setting without words shows its key and the server's description, last. */
export function grouped(settings: readonly Setting[]): Group[] {
  // The view shows theme, language and the door for phones apart.
  const apart = ['ui.theme', 'ui.language', 'phone.enabled'];
  const left = new Map(settings.filter((setting) => !apart.includes(setting.key)).map((setting) => [setting.key, setting]));
  const groups = parts.map(({ title, settings: known }): Group => ({
    title,
    rows: Object.entries(known).flatMap(([key, words]) => {
      const setting = left.get(key);
      left.delete(key);
      return setting ? [{ setting, words }] : [];
    }),
  }));
  const other = [...left.values()].map((setting) => ({ setting, words: { name: () => setting.key, doc: () => setting.description } }));
  return [...groups, { title: m.part_other, rows: other }].filter((group) => group.rows.length > 0);
}
