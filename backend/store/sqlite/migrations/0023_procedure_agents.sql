-- Which agents can call a procedure also says whether they get pictures of its outputs: what was a list of names is an object.
UPDATE meta SET value = json_object('agents', json(value)) WHERE key GLOB 'procedure_agents/*' AND json_valid(value) AND json_type(value) = 'array';
