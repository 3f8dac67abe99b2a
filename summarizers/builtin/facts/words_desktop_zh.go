package facts

import (
	"strings"
)

// zhTrouble are words of errors and warnings.
var zhTrouble = zhWords(`错误 出错 失败 无法 不能 异常 警告 拒绝 无效 不存在 未找到 找不到 没有找到 超时 崩溃 未响应 无响应 没有响应 停止响应 已停止工作
	损坏 不允许 没有权限 无权限 权限不足 冲突 过期 不可用 空间不足 已满 被占用 只读 中止 意外 不支持 报错 不正确 有误 已存在 已被占用 缺少 中断 断开连接`)

// zhQuiet are words that have one of trouble in them and speak of none.
var zhQuiet = zhWords(`没有错误 无错误 未发现错误 没有发现错误 没有出错 未出错 没有报错 无报错 零错误 错误日志 错误报告 错误信息 错误处理 错误代码 错误码 错误页
	没有失败 无失败 未失败 没有警告 无警告 没有异常 无异常 未见异常 未发现异常 异常处理 没有冲突 无冲突 未过期`)

// ZhHung are what systems add to the title of a window that does not answer.
var ZhHung = zhWords(`未响应 无响应 没有响应 停止响应`)

// zhNot are words that turn round what follows them.
var zhNot = zhWords(`没有 并未 尚未 还没 不能 无法 未能 未曾 从未 不 没 未 无 非 否 零`)

// zhPlain are words that have one of zhNot in them and turn nothing round.
var zhPlain = zhWords(`不过 不同 不仅 不但 不断 不久 不少 不错 不动产 不锈钢 无线 无论 无人机 未来 非常 否则 差不多 对不起 无误 没问题 没有问题 没错 零售 零件`)

// zhUnreal are words of what is wanted, meant or still to come.
var zhUnreal = zhWords(`需要 请 应该 应当 必须 准备 打算 计划 待 将要 即将 将会 如果 若 是否 希望 期望 预期 稍后 明天 尝试 试图 可能 也许 大概 等待 正在 怎么 如何 建议`)

// zhStop are words that tell nothing apart.
var zhStop = zhWords(`看到 看见 能够 可以 显示 出现 提示 弹出 页面 窗口 界面 屏幕 对话框 消息 文字 字样 已经 所有 全部 一个 一条 这个 那个 并且 而且 以及 然后 其中 进行
	共有 共 的 了 和 与 在 到 把 将 并 为 中 里 上 下 个 一 被 有 是 会 能 后 已 均 都 也 就 从 对 给 我 你 他 它 们 其 该 这 那 或 及 内 并 且 处 得 地 着`)

// zhFaint are words of how something looks.
var zhFaint = zhWords(`绿色 红色 蓝色 黄色 标识 标志 标记 图标 对勾 勾 横幅 指示灯 灯 按钮 正确`)

// zhVerbs are things that can have happened. Chinese verbs have no forms: that something has happened is said by words
// beside them, those of done and ok among them, or by zhPast.
var zhVerbs = verbs(moreHan + `
	ok: 通过 成功 正常 -失败 -异常 -出错 -报错 -不通过 :
	done: 完成 完毕 结束 就绪 -未完成 : 
	save: : 保存 存储 另存
	create: : 创建 新建 生成 建立 建好
	exist: 存在 -不存在 :
	delete: : 删除 移除 清除
	open: : 打开
	close: : 关闭
	on: : 启用 开启 勾选 激活 选中 -禁用 -停用 -取消勾选
	connect: : 连接 连上 -断开
	install: : 安装 -卸载
	send: : 发送 提交 发出
	export: : 导出 下载
	import: : 导入 上传
	login: : 登录 登陆 -退出登录 -登出
	signed: : 签署 签名 签字 签订
	print: : 打印
	rename: : 重命名 改名
	move: : 移动 移到 移至
	copy: : 复制 拷贝
	receive: 收到 : 接收
	verify: : 验证 确认 核对 核实
	run: : 启动 运行 -停止
	change: : 修改 更新 更改 变更 编辑
	approve: : 批准 同意 -拒绝 -驳回
	pay: : 支付 付款
	choose: : 选择
	publish: : 发布 部署 上线
	merge: : 合并
	restore: : 恢复 还原
	add: : 添加 新增 增加
`)

// zhPast are words that say of a verb beside them that it has happened.
var zhPast = zhWords(`已 了 成功 完成 完毕 好了`)

// zhCommands is how buttons and menu items begin that do more than lead somewhere else; those of pages are beside them.
var zhCommands = zhWords(`导出 安装 卸载 打印 签署 运行 执行 构建 编译 测试 连接 断开 上传 登录 替换 覆盖 转换 解压 压缩 加密 解密 升级 重命名 移动到 清空 推送 拉取 格式化 挂载`)

// ZhAgain are words on buttons for another try.
var ZhAgain = zhWords(`重试 再试 重新连接 重新发送 重新运行 重新尝试`)

// What buttons say that give up what was begun, throw away what was written, undo, and keep.
var (
	ZhCancel = zhWords(`取消 放弃 中止`)
	ZhDrop   = zhWords(`不保存 放弃更改 放弃修改 丢弃`)
	zhUndo   = zhWords(`撤销 撤消`)
	ZhKeep   = zhWords(`保存 另存为 存储 存盘`)
)

// zhUnsaved is how programs mark, in words, a document that is not saved.
var zhUnsaved = []string{"（已修改）", "(已修改)", "[已修改]", "（未保存）", "(未保存)", "[未保存]", "— 已编辑", "- 已编辑"}

// zhAsks are how a request for an answer is put, with a mark or without.
var zhAsks = zhWords(`请问 请告诉 请提供 请说明 请确认 能不能 可不可以 要不要 是不是`)

func zhWords(list string) []string { return strings.Fields(list) }

// zhNouns are words of work that English texts have as often as Chinese ones: an outcome may be asked for in one
// language and seen in the other.
var zhNouns = map[string]string{
	"测试": "test", "文件": "file", "报告": "report", "报表": "report", "合同": "contract", "邮件": "mail", "数据": "data", "项目": "project",
	"任务": "task", "设置": "setting", "表单": "form", "表格": "table", "图片": "picture", "备份": "backup", "服务": "service", "数据库": "database",
	"版本": "version", "账户": "account", "账号": "account", "余额": "balance", "总数": "total", "订单": "order", "发票": "invoice", "状态": "statu",
	"用户": "user", "密码": "password", "仪表盘": "dashboard", "错误": "error", "警告": "warning", "文件夹": "folder", "打印机": "printer", "构建": "build",
}

// zhBut are words that begin another clause.
var zhBut = zhWords(`但是 但 不过 然而 可是`)

// zhCloser are words on what closes a window, or a program.
var (
	zhCloser = zhWords(`关闭 退出 文件 最小化 取消 关闭窗口 关闭标签页 离开`)
	zhQuits  = zhWords(`退出`) // with the name of the program
)

// ZhFixed are words of trouble that is over.
var ZhFixed = zhWords(`已修复 修复了 已解决 解决了 已恢复 恢复正常 不再 已消除 已排除`)

// ZhMail is how titles of mails begin, which speak of what they are about.
var ZhMail = zhWords(`回复 答复 转发 关于 如何 新邮件 写信`)

// zhBusy are words in titles of what is not done yet.
var zhBusy = zhWords(`正在 请稍候 请稍等 处理中 加载中 生成中 运行中 转换中 导出中 导入中 上传中 下载中 安装中 更新中 连接中 等待 稍后再试 请求过于频繁`)

// zhAreas are those of enAreas.
var zhAreas = [][]string{
	{"安全", "漏洞", "注入"}, {"性能", "速度", "快", "慢", "延迟"}, {"可读", "易读", "清晰"}, {"可维护", "维护"}, {"测试", "覆盖"}, {"错误处理", "异常处理"}, {"正确", "有误", "缺陷"},
	{"设计", "架构"}, {"风格", "规范", "格式"}, {"命名", "名称"}, {"文档", "注释"}, {"并发", "竞争", "线程"}, {"无障碍"}, {"易用", "好用"}, {"成本", "费用", "价格"},
	{"复杂"}, {"扩展", "伸缩"}, {"兼容"}, {"隐私", "个人信息"}, {"密码", "口令"}, {"会话"}, {"运维"},
}

// ZhLogin are words on buttons that log a person in.
var ZhLogin = zhWords(`登录 登陆 解锁`)

// zhWhole are words with a character in them that means something else alone.
var zhWhole = zhWords(`文件管理器 任务管理器 申请 邀请 请求 请假 聘请 需求 计划书 计划表 会议 会员 机会 社会 上海 中国 中心 有效 有限 在线 地址 地区 目的 的确 了解 功能 性能 智能 才能 能源 能力 了结 后台 后端 前后 背后 处理 得分 得到 被告 一致 一般 统一 唯一 已有 都市 首都 里程 公里 就业 成就 从业`)

// ZhValueNot is how values begin that are none.
var ZhValueNot = zhWords(`不 非 没 大于 小于 不少于 至少 至多 超过 低于 高于 约 任意 已知 正确 有 空`)
