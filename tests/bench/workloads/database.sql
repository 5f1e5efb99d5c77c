-- Fills, indexes, joins and groups tables in memory. The table size(n) says how many rows.
create table person(id integer primary key, name text, town integer, born text);
insert into person
  with recursive number(i) as (select 1 union all select i + 1 from number where i < (select n from size))
  select i, printf('%08x %06x', i * 2654435761 % 4294967296, i * 40503 % 16777216), i * 7919 % 1000,
         date('1950-01-01', '+' || (i * 31 % 25000) || ' days')
  from number;
create index by_town on person(town);
create table town as
  select town as id, count(*) as people, group_concat(substr(name, 1, 3)) as names, min(born) as oldest
  from person group by town;
select sum(length(town.names)), max(oldest) from person join town on person.town = town.id
  where person.id % 7 = 0;
update person set name = name || id where id % 3 = 0;
create index by_name on person(name);
select count(distinct substr(name, 1, 4)) from person;
select substr(born, 1, 3) as decade, count(*), avg(length(name)) from person group by decade order by decade;
delete from person where id % 5 = 0;
select count(*), sum(id), max(name) from person;
