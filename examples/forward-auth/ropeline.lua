-- Asks Ropeline whether a request may pass, for haproxy.cfg beside this file. Needs HAProxy 2.6 or newer, built with Lua.
--
-- http-request lua.ask_ropeline ADDRESS sets txn.ropeline_pass to true after a yes, and to nothing after anything else:
-- a no, a failure, a gate that is away.

-- Fields of one connection, and of a body that is not sent along.
local left_out = {
    ["connection"] = true, ["keep-alive"] = true, ["proxy-connection"] = true, ["te"] = true, ["trailer"] = true,
    ["transfer-encoding"] = true, ["upgrade"] = true, ["content-length"] = true, ["expect"] = true,
}

local function told(txn)
    local headers = {}
    for name, values in pairs(txn.http:req_get_headers()) do
        if not left_out[name] then
            headers[name] = {}
            for _, value in pairs(values) do
                table.insert(headers[name], value)
            end
        end
    end
    return headers
end

core.register_action("ask_ropeline", { "http-req" }, function(txn, address)
    local answer = core.httpclient():get {
        url = "http://" .. address .. "/.ropeline/forward/haproxy",
        headers = told(txn),
        timeout = 10000,
    }
    if answer == nil or answer.status ~= 200 then
        return
    end
    for name, variable in pairs { ["ropeline-session"] = "txn.ropeline_session", ["cookie"] = "txn.shop_cookie",
                                ["ropeline-bound"] = "txn.ropeline_bound" } do
        local values = answer.headers[name]
        if values ~= nil and values[0] ~= nil and values[0] ~= "" then
            txn:set_var(variable, values[0])
        end
    end
    txn:set_var("txn.ropeline_pass", true)
end, 1)
