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
    package static let standard = ToolTable(MessageTools.all)

    /// A grant among the names of tools: the tasks of other bots are not refused.
    static let allTasks = "all_tasks"

    /// What `bots.NAME.tools` may name.
    package var names: [String] { tools.map(\.name) + [Self.allTasks] }

    /// The tool of that name; nil: there is none.
    package subscript(name: String) -> BotTool? { tools.first { $0.name == name } }
}
