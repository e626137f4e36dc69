import API

/// The tools that bots can be allowed, each once: the configuration, the offers to providers and MCP are made of them.
///
/// To add one, see <doc:AddATool>.
package struct ToolTable: Sendable {
    /// The tools, in the order in which they are listed.
    package let tools: [BotTool]

    /// A table of these tools.
    package init(_ tools: [BotTool]) { self.tools = tools }

    /// All there are: a line for each family.
    package static let standard = ToolTable(
        MessageTools.all + TaskTools.all + RunTools.all + WebTools.all + MemoryTools.all + FileTools.all
            + TeamTools.all)

    /// The tool that may be granted for single jobs, as `run_job:NAME`.
    package static let runJob = "run_job"
    /// A grant among the names of tools: the tasks of other bots are not refused.
    static let allTasks = "all_tasks"

    /// What `bots.NAME.tools` may name.
    ///
    /// A bot has ``TeamTools`` by its team alone.
    package var names: [String] { tools.map(\.name).filter { $0 != TeamTools.name } + [Self.allTasks] }

    /// The tool of that name; nil: there is none.
    package subscript(name: String) -> BotTool? { tools.first { $0.name == name } }
}
