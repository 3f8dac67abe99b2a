package facts

// sendChinese is how buttons begin that send what was filled in.
var sendChinese = []string{
	"保存", "创建", "登录", "登入", "登陆", "递交", "订阅", "发布", "发送", "发表", "付款", "购买", "继续", "加入", "检索", "立即", "确定", "确认",
	"删除", "上传", "设置", "申请", "搜索", "提交", "添加", "完成", "下单", "下一步", "新建", "新增", "修改", "验证", "邀请", "应用", "预订", "支付",
	"注册", "重置", "查询", "导入", "更新", "结算",
}

// changeChinese is how buttons begin that change something by themselves.
var changeChinese = []string{
	"保存", "撤销", "创建", "导入", "发布", "发送", "付款", "购买", "关闭工单", "关闭账户", "归档", "合并", "恢复", "激活", "接受", "解锁", "禁用", "拒绝",
	"启动", "启用", "确认", "移除", "删除", "上线", "审批", "生成", "授权", "已锁定", "被锁定", "停用", "停止", "提交", "通过", "同意", "退出", "退款", "下线", "下单",
	"同步", "新建", "邀请", "应用", "驳回", "部署", "批准", "重启", "重置", "支付", "注销", "转让", "分配", "更新",
}

// payChinese is how buttons begin by which money moves.
var payChinese = []string{"付款", "购买", "结算", "立即购买", "立即支付", "提交订单", "退款", "下单", "支付", "转账"}

// stepsChinese is how buttons begin that are meant to be clicked again and again.
var stepsChinese = []string{
	"播放", "撤消", "重做", "放大", "缩小", "更多", "后退", "加载更多", "减少", "前进", "切换", "上一", "收起", "跳过", "下一", "显示更多", "添加", "新增", "查看更多",
	"增加", "展开", "暂停", "返回", "打开",
}

// retryChinese is how buttons begin that send once more what was sent.
var retryChinese = []string{"再试一次", "再次提交", "重新发送", "重新提交", "重试"}

// passChinese is in the names of fields for passwords.
var passChinese = []string{"密码", "口令"}

// signChinese is in the names of pages and buttons by which people sign in.
var signChinese = []string{"登入", "登录", "登陆"}

// greetChinese is how messages to a person begin who has just signed in.
var greetChinese = []string{"你好", "您好", "欢迎", "登录成功", "登入成功"}

// searchChinese is in the names of what is searched with.
var searchChinese = []string{"查询", "查找", "检索", "筛选", "搜索", "搜一搜"}

// strongChinese speaks of an error wherever it stands, weakChinese in what a page only tells.
var (
	strongChinese = []string{"出错", "错误", "失败", "无效", "异常", "拒绝访问", "访问被拒绝", "无权", "没有权限", "权限不足", "有误", "不正确", "未找到", "找不到"}
	weakChinese   = []string{
		"必填", "不足", "不一致", "不匹配", "不符", "售罄", "已满", "已下架", "缺货", "断开", "冻结", "未通过", "查无", "违规", "必须", "至少", "至多", "不少于", "不得", "不存在", "不合法", "不可用", "不能", "不允许", "不支持", "超出", "超时", "冲突", "过期", "过长", "过短", "禁止", "缺少", "请填写", "请输入",
		"被他人", "被其他人", "被别人", "被其他用户", "请选择", "繁忙", "失效", "已锁定", "被锁定", "无法", "已被占用", "已存在", "重试", "被驳回", "被拒绝", "太大", "太多", "出现问题", "有问题", "存在问题",
	}
	// fineChinese is what sounds like an error and is none.
	fineChinese = []string{"0 个错误", "0个错误", "没有错误", "没有异常", "没有问题", "无错误", "无异常", "无误", "未发现错误", "未发现异常", "未发现问题", "没有失败"}
)

// errorTitlesChinese are in the titles of pages that tell of an error, as a short part of the title.
var errorTitlesChinese = []string{
	"不存在", "出错", "登录过期", "登录失败", "登录已过期", "登录已失效", "登录超时", "访问被拒绝", "访问受限", "服务不可用", "服务器错误", "服务器异常", "会话过期", "会话已过期",
	"会话超时", "加载失败", "禁止访问", "拒绝访问", "链接已过期", "链接已失效", "没有权限", "内部错误", "请求超时", "权限不足", "提交失败", "未授权", "无法访问", "无权限",
	"无权访问", "系统错误", "系统繁忙", "系统维护", "系统异常", "页面已失效", "已过期", "验证失败", "找不到", "支付失败", "未找到", "操作失败", "保存失败", "错误页",
}

// aboutChinese is in the titles of pages that are about errors.
var aboutChinese = []string{"工单", "教程", "搜索", "文档", "缺陷", "问答"}

// backChinese is how links begin that go back to put something right.
var backChinese = []string{"上一步", "修改", "后退", "返回", "退回"}

// clearChinese is how buttons begin that empty a form.
var clearChinese = []string{"放弃", "清空", "清除", "重新填写"}
